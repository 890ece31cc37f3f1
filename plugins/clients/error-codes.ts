import { errorCodes } from 'guard-gateway/core'

export const clientErrors = {
  ...errorCodes(400, 'usage_error', {
    COMMAND_NOT_FOUND: ['The command cannot be started', 'Install it, or name it by its path.'],
  }),
  ...errorCodes(409, 'conflict_error', {
    PROFILE_EXISTS: ['The profile is somebody else’s', 'Move it away, or choose another folder with --dir.'],
  }),
}
