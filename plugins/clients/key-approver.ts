import type { Command } from 'guard-gateway/lib/command'
import { newKey, sha256 } from 'guard-gateway/lib/ids'

/** `guard key approver`: prints a new approver key and its hash for the configuration. */
export const makeApproverKey = (): Command => ({
  id: 'key approver',
  summary: 'make a key that approving, resuming and changing rules then take; it is printed this once',
  example: ['guard key approver', 'guard key approver --json'],
  async run({ options }, io) {
    const key = newKey('guard_')
    const approver_key = `sha256:${sha256(key)}`
    if (options.json === true) io.out.write(`${JSON.stringify({ key, approver_key })}\n`)
    else {
      io.out.write(`${key}\n`)
      io.err.write(`Keep it where no agent reads it. Put this into the configuration file:\n`)
      io.err.write(`mcp: { approver_key: "${approver_key}" }\n`)
      io.err.write(
        `A gateway that runs without one asks for it from its next request on; in place of another key it takes a restart.\n`,
      )
    }
    return 0
  },
})
