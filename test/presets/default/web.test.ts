import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type CommandHome, commandHome } from '../../kit/command-home.ts'

describe('--web', () => {
  let home: CommandHome
  before(async () => {
    home = await commandHome({ served: true })
    for (const scenario of ['exact-loop', 'mcp-confirm'])
      await home.guard('playground', 'run', scenario, '--mode', 'enforce')
  })
  after(() => home.remove())

  const first = async (field: string, ...list: readonly string[]): Promise<string> => {
    const rows = JSON.parse((await home.guard(...list, `--json=${field}`)).out) as readonly Record<string, string>[]
    return rows[0]?.[field] ?? ''
  }

  it('prints the address of the page of what is shown, which is there', async () => {
    const run = await first('trace_id', 'replay', 'list')
    const session = await first('id', 'sessions', 'list')
    const approval = await first('id', 'mcp', 'approvals', 'list')
    for (const [words, path] of [
      [['replay', 'list', '--failure', 'loop', '--since', 'yesterday'], '/replay?failure_tag=loop&since=yesterday'],
      [['replay', 'list'], '/replay'],
      [['replay', 'show', run.slice(0, 12)], `/replay/${run}`],
      [['replay', 'compare', run, run], `/replay/compare?left=${run}&right=${run}`],
      [['sessions', 'list', '--paused'], '/sessions?paused=true'],
      [['sessions', 'show', session], `/sessions/${session}`],
      [['agents', 'list'], '/agents'],
      [['mcp', 'approvals', 'list'], '/mcp'],
      [['mcp', 'approvals', 'show', approval], `/approvals/${approval}`],
      [['policy', 'show', 'shop'], '/policies/shop'],
      [['playground', 'list'], '/playground'],
      [['status'], '/'],
    ] as const) {
      const { code, out, err } = await home.guard(...words, '--web')
      assert.deepEqual([code, err], [0, ''], words.join(' '))
      assert.ok(out.trim().endsWith(path), `${words.join(' ')}: ${out}`)
      assert.equal((await fetch(out.trim())).status, 200, out)
    }
    const { url } = JSON.parse((await home.guard('agents', 'list', '--web', '--json')).out)
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/agents$/)
  })

  it('opens nothing for what decides', async () => {
    const { code, err } = await home.guard('mcp', 'approvals', 'allow', 'apr_x', '--web')
    assert.equal(code, 2)
    assert.match(err, /--web goes with "mcp approvals list" and "mcp approvals show <id>"/)
  })
})
