"""Cost models: learned run times and load times, each with its uncertainty."""
