import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { startReceiver } from './kit.ts'

const root = join(import.meta.dirname, '../../..')

it('the example sends a run and prints its id', async (test) => {
  await using receiver = await startReceiver()
  const text = readFileSync(join(root, 'examples/otlp-exporter.ts'), 'utf8')
  assert.ok(text.includes('http://127.0.0.1:8787'))
  // beside the packages that it imports
  const file = join(root, 'test', `.otlp-exporter-${process.pid}.ts`)
  test.after(() => rm(file))
  await writeFile(file, text.replaceAll('http://127.0.0.1:8787', receiver.started.url))
  const env = { ...process.env, GUARD_GATEWAY_KEY: receiver.started.key }
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
  const { run, spans } = await receiver.run(stdout.trim())
  assert.deepEqual([run.project_id, run.agent_name, run.status], ['my-project', 'my-agent', 'ok'])
  assert.deepEqual(
    spans.map(({ name, events }) => [name, events.map((event) => event.name)]),
    [
      ['agent.run', []],
      ['execute_tool read_file', ['tool.result']],
    ],
  )
})
