import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { notifierConforms, startService } from 'guard-gateway/test'
import { statusFile } from '../../examples/custom-notifier.ts'

const aFile = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-status-'))
  const file = join(folder, 'status')
  await writeFile(file, '')
  const lines = async () => (await readFile(file, 'utf8')).split('\n').slice(0, -1)
  return { file, lines, close: () => rm(folder, { recursive: true, force: true }) }
}

notifierConforms(statusFile, {
  start: async () => {
    const { file, lines, close } = await aFile()
    return { options: { file }, messages: lines, close }
  },
})

test('a gateway appends what happens, with the page that shows it', async (context) => {
  const { file, lines, close } = await aFile()
  context.after(close)
  await using service = await startService({
    plugins: [statusFile],
    config: `notify: { receivers: { bar: { notifier: status_file, file: ${JSON.stringify(file)} } } }`,
  })
  const body = { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] }
  await service.request('POST', '/v1/chat/completions', body, { 'x-guard-session-id': 'mine' })
  await service.request('POST', '/api/sessions/mine/pause', { reason: 'lunch' })
  while ((await lines()).length === 0) await new Promise(setImmediate)
  const [line = ''] = await lines()
  const { id } = await service.session('mine')
  assert.match(line, /A session of project "default" is paused and waits for a person: lunch\./)
  assert.ok(line.endsWith(`  ${service.gateway.url}/sessions/${id}`), line)
})
