import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { displayWidth } from '#lib/terminal'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'

let folder = ''

/** What a command prints on a terminal of so many columns, or for another program. */
const guard = async (argv: readonly string[], columns?: number) => {
  const screen = columns === undefined ? {} : { tty: true, columns, rows: 10_000 }
  const io = fakeIo({ cwd: folder, env: { NO_COLOR: '1' }, ...screen })
  const code = await main(argv, io)
  return { code, out: io.outText(), err: io.errText() }
}

const jsonOf = async (...argv: readonly string[]): Promise<unknown> => {
  const { code, out, err } = await guard(argv)
  assert.equal(code, 0, err)
  return JSON.parse(out)
}

const idsOf = async (list: readonly string[], field: string): Promise<readonly string[]> => {
  const rows = (await jsonOf(...list, `--json=${field}`)) as readonly Record<string, string>[]
  return rows.map((row) => row[field] ?? '')
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')

/** Command lines that print something of the size of what is stored. */
const commandLines = async (): Promise<readonly (readonly string[])[]> => {
  const first = async (list: readonly string[], field: string): Promise<string> => (await idsOf(list, field))[0] ?? ''
  const run = await first(['replay', 'list'], 'trace_id')
  return [
    ['replay', 'list'],
    ['replay', 'show', run],
    ['replay', 'show', run, '--events'],
    ['replay', 'compare', run, run],
    ['sessions', 'list'],
    ['sessions', 'show', await first(['sessions', 'list'], 'id')],
    ['agents', 'list'],
    ['mcp', 'approvals', 'list'],
    ['mcp', 'approvals', 'show', await first(['mcp', 'approvals', 'list'], 'id')],
    ['mcp', 'pins', 'list'],
    ['mcp', 'validate-policy', 'policy.yml'],
    ['mcp', 'explain', '--policy', 'policy.yml', '--tool', 'read_file'],
    ['policy', 'show', 'default'],
    ['policy', 'apply'],
    ['policy', 'simulate', 'enforce-recommended'],
    ['playground', 'list'],
    ['playground', 'run', 'recovery', '--mode', 'enforce'],
    ['status'],
    ['explain', 'PORT_TAKEN'],
    ['explain', 'loop'],
  ]
}

/** A word that is wider than the terminal may stand alone. */
const assertFits = (lines: readonly string[], columns: number, what: string): void => {
  for (const line of lines)
    assert.ok(
      displayWidth(line) <= columns || !/\S \S/.test(line.trim()),
      `${what} at ${columns}: ${displayWidth(line)} ${line}`,
    )
}

describe('commands on a terminal', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-terminal-'))
    await writeFile(
      join(folder, 'guard-config.yml'),
      'gateway_key: guard_0123456789abcdef\nstorage: { file: guard.db }\n',
      {
        mode: 0o600,
      },
    )
    await writeFile(
      join(folder, 'policy.yml'),
      'version: 1\nmode: enforce\ndefault: confirm\nrules:\n  - { id: reads, tools: ["read_*"], action: allow }\n',
    )
    for (const scenario of ['exact-loop', 'mcp-confirm', 'mcp-confirm-denied', 'paused-session', 'upstream-error'])
      assert.equal((await guard(['playground', 'run', scenario, '--mode', 'enforce'])).code, 0)
    assert.equal((await guard(['agents', 'add', 'nightly-fixer-of-all-flaky-tests', '--project', 'shop'])).code, 0)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('fit in 80 columns, and in fewer and more', async () => {
    for (const argv of await commandLines())
      for (const columns of [80, 100, 64]) {
        const { out, err } = await guard(argv, columns)
        assertFits([...linesOf(out), ...linesOf(argv[0] === 'explain' ? err : '')], columns, argv.join(' '))
      }
  })

  it('list what a person knows first, how long ago it was, and short ids last, which commands take', async () => {
    const { out } = await guard(['replay', 'list'], 80)
    const [head = '', line = ''] = linesOf(out)
    assert.match(head, /^run .* started +id$/)
    const [, shown = ''] = /(?:now| ago) +(\S{4,13}…?)$/.exec(line) ?? []
    const [newest = ''] = await idsOf(['replay', 'list'], 'trace_id')
    assert.ok(newest.startsWith(shown.replace('…', '')), line)
    const [whole, byShown, byBeginning] = [
      await jsonOf('replay', 'show', newest, '--json', 'run.trace_id'),
      await jsonOf('replay', 'show', shown, '--json=run.trace_id'),
      await jsonOf('replay', 'show', newest.slice(0, 12), '--json=run.trace_id'),
    ]
    assert.deepEqual([whole, byShown, byBeginning], Array(3).fill({ 'run.trace_id': newest }))

    const sessions = linesOf((await guard(['sessions', 'list'], 80)).out)
    const [id = ''] = await idsOf(['sessions', 'list'], 'id')
    const [, short = ''] = /(\S+)$/.exec(sessions[1] ?? '') ?? []
    assert.notEqual(short, id)
    assert.deepEqual(await jsonOf('sessions', 'show', short, '--json=id'), { id })

    const piped = linesOf((await guard(['replay', 'list'])).out)
    assert.match(piped[1] ?? '', / \d{4}-\d\d-\d\d \d\d:\d\d:\d\d .*[0-9a-f]{32}$/)
  })

  it('say which of several ids they mean', async () => {
    const [newest = ''] = await idsOf(['replay', 'list'], 'trace_id')
    const { code, err } = await guard(['replay', 'show', newest.slice(0, 5)])
    assert.equal(code, 2)
    assert.match(err, /is the beginning of \d ids: [0-9a-f]{32}, /)
  })

  it('filter runs as the page does', async () => {
    const named = async (...flags: readonly string[]) =>
      (await idsOf(['replay', 'list', ...flags], 'failure_tag')).length
    const all = await named()
    const loops = await named('--failure', 'loop')
    assert.ok(loops > 0 && loops < all, `${loops} of ${all}`)
    assert.equal(await named('--failure', 'any'), all - (await named('--failure', 'none')))
    assert.equal(await named('--since', 'yesterday'), all)
    assert.equal(await named('--until', 'yesterday'), 0)
    const costs = (await jsonOf('replay', 'list', '--sort', 'tokens', '--json', 'total_tokens')) as {
      total_tokens: number
    }[]
    assert.deepEqual(
      costs.map(({ total_tokens }) => total_tokens),
      costs.map(({ total_tokens }) => total_tokens).sort((a, b) => b - a),
    )
    const { code, err } = await guard(['replay', 'list', '--sort', 'name'])
    assert.equal(code, 2)
    assert.match(err, /"sort" must be one of recorded, start, duration, cost, tokens/)
  })

  it('list what waits for a decision first', async () => {
    const states = linesOf((await guard(['mcp', 'approvals', 'list'])).out)
      .slice(1)
      .flatMap((line) => /^\S.*? {2,}(pending|allowed|denied|consumed|expired)/.exec(line)?.[1] ?? [])
    assert.ok(states.length > 1)
    assert.deepEqual(
      states,
      [...states].sort((a, b) => Number(b === 'pending') - Number(a === 'pending')),
    )
  })

  it('name commands in their errors, and fields of --json', async () => {
    const missing = await guard(['replay', 'show', 'no-such-run'], 80)
    assert.match(missing.err, /There is no run "no-such-run"\. List them with "[^"]+ replay\s+list"/)
    for (const line of linesOf(missing.err)) assert.ok(line.length <= 80, line)
    const field = await guard(['replay', 'list', '--json', 'trace_id,price'])
    assert.equal(field.code, 2)
    assert.equal(field.out, '')
    assert.match(field.err, /There is no field \\"price\\"; there is id, trace_id, project_id, /)
  })

  it('limit a long run with a note, and show all of it on demand', async () => {
    const [run = ''] = await idsOf(['replay', 'list', '--failure', 'loop'], 'trace_id')
    const { out, err } = await guard(['replay', 'show', run, '--limit', '2'])
    const all = linesOf((await guard(['replay', 'show', run, '--limit', '0'])).out)
    assert.equal(linesOf(out).length, 3)
    assert.match(err, new RegExp(`^${all.length - 3} more lines?: choose spans with --spans, or raise --limit`))
    assert.equal((await guard(['replay', 'show', run, '--limit', 'x'])).code, 2)
  })

  it('say that no gateway runs whose page --web could open, and open none for what changes something', async () => {
    const { code, err } = await guard(['replay', 'list', '--web'])
    assert.equal(code, 69)
    assert.match(err, /No gateway answers at/)
    assert.match((await guard(['sessions', 'pause', 'x', '--web'])).err, /Unknown option --web/)
  })
})
