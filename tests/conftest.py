"""What all tests share: hypothesis without a deadline, which a busy machine breaks."""

from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("default")
