"""The backend of frozen_devices."""

import frozen_devices
from backend_of_devices import hooks

globals().update(hooks(frozen_devices))
