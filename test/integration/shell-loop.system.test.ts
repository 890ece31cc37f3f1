import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { guardProgram } from '../kit/child-gateway.ts'
import { startService } from '../kit/service.ts'

const run = promisify(execFile)

/** An agent that asks once, as its client does, and prints the status of the answer. */
const AGENT = `#!/bin/sh
headers=$(mktemp)
printf '%s\\n' "$ANTHROPIC_CUSTOM_HEADERS" > "$headers"
curl -s -o /dev/null -w '%{http_code}\\n' -H "@$headers" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" \\
  -H 'content-type: application/json' "$ANTHROPIC_BASE_URL/v1/messages" \\
  -d "{\\"model\\": \\"m-1\\", \\"max_tokens\\": 9, \\"messages\\": [{\\"role\\": \\"user\\", \\"content\\": \\"Do the next task. Host $RANDOM_PART\\"}]}"
rm "$headers"
`

describe('an agent that a loop in the shell starts again and again', () => {
  it('has one session, and so one budget, where that is named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-night-'))
    try {
      await using service = await startService()
      const { port } = new URL(service.gateway.url)
      await writeFile(
        join(folder, 'guard-config.yml'),
        `gateway_key: ${service.gateway.key}\nserver: { port: ${port} }\n`,
      )
      await writeFile(join(folder, 'my-agent'), AGENT, { mode: 0o755 })
      const rules = [{ rule_type: 'max_requests', threshold: 1, action: 'block' }]
      await service.policy({ mode: 'enforce', rules }, 'night-shift')
      const starts = async (...flags: readonly string[]): Promise<readonly string[]> => {
        const words = ['run', '--project', 'night-shift', ...flags, '--', join(folder, 'my-agent')]
        const line = [process.execPath, ...guardProgram, ...words].map((word) => `'${word}'`).join(' ')
        // each start asks something else, so that nothing but a session joins them
        const loop = `for n in 1 2; do RANDOM_PART=${flags.length}$n ${line}; done`
        const { stdout } = await run('sh', ['-c', loop], { cwd: folder })
        return stdout.trim().split('\n')
      }
      assert.deepEqual(await starts(), ['200', '200'])
      assert.deepEqual(await starts('--session', 'night'), ['200', '429'])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
