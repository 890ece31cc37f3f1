import { errorCodes } from 'guard-gateway/core'

export const copyErrors = errorCodes(409, 'conflict_error', {
  COPY_TARGET_OCCUPIED: [
    'The target of a copy has rows that the source has not',
    'Name an empty database as the target. A copy that was interrupted goes on only into a target that nothing else has written to, from a source that has not changed.',
  ],
  COPY_IN_USE: [
    'A gateway is at work on a database that is to be copied',
    'Stop all gateways that use it, and copy again.',
  ],
  COPY_DIFFERS: [
    'Source and target of a copy are not the same',
    'Stop whatever writes to either of them, empty the target, and copy again.',
  ],
})
