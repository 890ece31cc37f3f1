import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { foundation } from 'guard-gateway/presets/foundation'
import { startGateway } from 'guard-gateway/test'
import { commandKind } from '#lib/command'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'

const guard = (context: TestContext, ...args: readonly string[]) => guardIn(context, {}, ...args)

const guardIn = async (context: TestContext, env: Readonly<Record<string, string>>, ...args: readonly string[]) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-playground-'))
  context.after(() => rm(cwd, { recursive: true, force: true }))
  const io = fakeIo({ cwd, env: { CI: '1', ...env } })
  // whatever listens on the port that a configuration would name is none of its business
  const asked = context.mock.method(globalThis, 'fetch')
  const code = await main(['playground', ...args], io)
  assert.equal(asked.mock.callCount(), 0)
  asked.mock.restore()
  assert.deepEqual(await readdir(cwd), [])
  return { code, out: io.outText(), err: io.errText() }
}

test('a loop is seen being blocked without a configuration, a key or a gateway', async (context) => {
  const { code, out, err } = await guard(context, 'run', 'exact-loop', '--mode', 'enforce')
  assert.equal(code, 0)
  assert.match(err, /To stop agents of your own that are stuck: .* policy apply enforce-recommended --mode enforce\n$/)
  assert.match(out, /^exact-loop {2}enforce\n/)
  assert.match(out, /^ {2}3 {2}and again +block {2}LOOP_EXACT {2}429 +✓ expected$/m)
  assert.match(out, /^matched {2}4\/4$/m)
  const plain = await guardIn(context, { LC_ALL: 'C' }, 'run', 'exact-loop')
  assert.match(plain.out, /^ {2}3 {2}and again +shadow_flag {2}LOOP_EXACT +\+ expected$/m)
})

test('scenarios are listed, and runs told as JSON', async (context) => {
  const { out } = await guard(context, 'list')
  assert.match(out, /^exact-loop +Four identical requests +model +4$/m)
  assert.match(out, /^mcp-transform +Arguments made safe +mcp +1$/m)
  const { scenarios } = JSON.parse((await guard(context, 'list', '--json')).out)
  assert.ok(scenarios.some(({ id }: { id: string }) => id === 'calm-work'))
  const run = JSON.parse((await guard(context, 'run', 'recovery', '--json')).out)
  assert.deepEqual([run.scenario_id, run.mode, run.matched], ['recovery', 'shadow', true])
})

test('all scenarios run in the style that was chosen, but for those that have none to choose', async (context) => {
  const { code, out, err } = await guard(context, 'run', '--all', '--style', 'messages', '--json')
  assert.equal(code, 0, err + out)
  const styles = new Map(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ scenario_id, style }) => [scenario_id, style]),
  )
  assert.equal(styles.get('exact-loop'), 'messages')
  assert.ok(styles.has('three-styles') && styles.has('mcp-size'))
})

test('what is wrong is told in one line, with what there is', async (context) => {
  const unknown = await guard(context, 'run', 'exact-lop')
  assert.equal(unknown.code, 1)
  assert.match(
    unknown.err,
    /^error: There is no scenario "exact-lop"; there is .*exact-loop.*\(SCENARIO_NOT_FOUND\)\n$/,
  )
  const pace = await guard(context, 'run', 'exact-loop', '--pace', 'x')
  assert.equal(pace.code, 2)
  assert.match(pace.err, /--pace takes 0 to 2000 milliseconds, not "x"/)
  const open = await guard(context, 'open', '--config', '/nowhere/guard-config.yml')
  assert.equal(open.code, 78)
})

test('where a gateway runs, it is asked, and its pages are named', async (context) => {
  const started = await startGateway()
  context.after(() => started.close())
  const { playgroundCommands } = await import('guard-gateway/plugins/playground')
  const { Gateway } = await import('guard-gateway/core')
  const gateway = new Gateway().use(...foundation())
  playgroundCommands({
    running: async () => started.url,
    asking: (work) =>
      work(async (method, path, body) => {
        const sent =
          body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
        return (await fetch(started.url + path, { method, ...sent })).json()
      }, started.url),
  }).apply(gateway)
  const io = fakeIo({ env: { CI: '1' } })
  assert.equal(
    await gateway
      .registry(commandKind)
      .need('playground run')
      .run({ args: ['recovery'], options: {}, rest: [] }, io),
    0,
  )
  assert.match(io.outText(), new RegExp(`^matched {2}4/4 {2}${started.url}/replay/[0-9a-f]{32}$`, 'm'))
  const opened = fakeIo({ env: { CI: '1' } })
  assert.equal(
    await gateway.registry(commandKind).need('playground open').run({ args: [], options: {}, rest: [] }, opened),
    0,
  )
  assert.equal(opened.outText(), `${started.url}/playground\n`)
  const told = fakeIo({ env: { CI: '1' } })
  await gateway
    .registry(commandKind)
    .need('playground open')
    .run({ args: [], options: { json: true }, rest: [] }, told)
  assert.deepEqual(JSON.parse(told.outText()), { url: `${started.url}/playground` })
})
