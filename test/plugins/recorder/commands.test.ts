import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'
import { FakeProvider } from '../../kit/provider.ts'
import { dialectOf, looping } from '../../kit.ts'

const dialect = dialectOf('messages')
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guard-report-'))
  await writeFile(join(folder, 'prices.yml'), 'version: 1\ncurrency: EUR\nmodels: { m-1: 400000 }\n')
  const config = 'replay: { pricing: prices.yml }'
  const key = 'guard_key-of-the-report-0123456789abcdef'
  await writeFile(join(folder, 'guard-config.yml'), `gateway_key: ${key}\nserver: { port: 9 }\n${config}\n`)
  const provider = await new FakeProvider().listen()
  const gateway = await startGateway({ folder, backend: 'sqlite', upstream: provider.url, config })
  const send = (session: string) =>
    gateway.request('POST', dialect.path, dialect.body(looping(1)), { 'x-guard-session-id': session })
  for (let turn = 0; turn < 5; turn++) await send('burn | *all*')
  await send('fine')
  await gateway.close()
  await provider.close()
})
after(() => rm(folder, { recursive: true, force: true }))

const guard = async (...args: readonly string[]) => {
  const io = fakeIo({ cwd: folder, env: {} })
  const code = await main([...args], io)
  return { code, out: io.outText(), err: io.errText() }
}

test('guard report says what loops cost, then each rule and session', async () => {
  const { code, out, err } = await guard('report')
  assert.equal(code, 0, err)
  const [first = '', second, ...rest] = out.split('\n')
  assert.match(
    first,
    /^Enforced, this would have saved at most 0\.00003 EUR \(75 tokens\) from \d{4}-\d\d-\d\d \d\d:00 to [\d-]+ [\d:]+ UTC: 3 requests of 1 session that went on after a flag\.$/,
  )
  assert.equal(second, 'At most: an agent that is refused may go on in another way.')
  assert.match(rest.join('\n'), /rule +reason +sessions[^\n]*\nexact_repeat +LOOP_EXACT +1 +3 +0 +3 +75 +0\.00003\n/)
  assert.match(rest.join('\n'), /burn \| \*all\* +ses_\w+ +default +exact_repeat +3 +75 +0\.00003 +0\.00005\n/)
  assert.doesNotMatch(out, /fine/)
})

test('guard report --json is what the API answers', async () => {
  const { out } = await guard('report', '--json', '--since', '7d', '--limit', '1')
  const { saved, currency, sessions } = JSON.parse(out)
  assert.deepEqual([saved.cost_since_flag_micro, currency, sessions.length], [30, 'EUR', 1])
  assert.equal(out.split('\n').length, 2, 'one document on one line')
})

test('guard report --markdown can be pasted: names are text in their cells', async () => {
  const { out } = await guard('report', '--markdown', '--project', 'default')
  assert.match(out, /^## What loops cost, [\d-]+ to [\d-]+, project default\n\nEnforced, this would have saved at most/)
  assert.match(out, /\n### Rules\n\n\| rule \| reason \| sessions \|[^\n]*\n\| --- \| --- \| ---: \|/)
  assert.match(out, /\n\| exact\\_repeat \| LOOP\\_EXACT \| 1 \| 3 \| 0 \| 3 \| 75 \| 0\.00003 \|\n/)
  assert.match(out, /\n\| burn \\\| \\\*all\\\* \| ses\\_\w+ \|/)
  for (const line of out.split('\n').filter((one) => one.startsWith('|')))
    assert.ok([9, 10].includes(line.split(/(?<!\\)\|/).length - 1), line)
})

test('where nothing was flagged it says so, and a wrong time is a clear error', async () => {
  const { out } = await guard('report', '--since', '2020-01-01', '--until', '2020-01-02')
  assert.match(out, /^Enforced, this would have saved nothing from 2020-01-01 00:00 to 2020-01-02 00:00 UTC: no rule/)
  const { code, err } = await guard('report', '--since', 'someday')
  assert.notEqual(code, 0)
  assert.match(err, /"since" is not a time: someday/)
})
