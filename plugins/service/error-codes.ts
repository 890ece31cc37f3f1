import { errorCodes } from 'guard-gateway/core'

export const serviceErrors = {
  ...errorCodes(409, 'conflict_error', {
    SERVICE_EDITED: [
      'The file of the service was edited, or is somebody else’s',
      'Keep it, move it away, or replace it with --force.',
    ],
  }),
  ...errorCodes(503, 'configuration_error', {
    SERVICE_UNAVAILABLE: [
      'There is nothing here that runs services of users',
      'Use systemd on Linux or launchd on macOS, a container, or what starts services on that machine.',
    ],
    SERVICE_FAILED: ['The service did not start', 'Read its log, as the message says, and install it again.'],
  }),
}
