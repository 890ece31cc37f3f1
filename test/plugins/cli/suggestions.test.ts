import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { commandHome } from '../../kit/command-home.ts'
import { fakeIo } from '../../kit/io.ts'

describe('suggestions', () => {
  it('knows what is stored for an argument and for a flag, and is silent where nothing can be asked', async (context) => {
    const home = await commandHome({ served: true })
    context.after(() => home.remove())
    for (const scenario of ['exact-loop', 'mcp-confirm']) await home.guard('playground', 'run', scenario)
    await home.guard('agents', 'add', 'reviewer', '--name', 'Code review')
    const suggested = async (...words: readonly string[]) => {
      const { code, out, err } = await home.guard('__complete', ...words)
      assert.deepEqual([code, err], [0, ''])
      return out.split('\n').filter((line) => line !== '')
    }
    const [session = '', external = ''] = await suggested('sessions', 'pause', '')
    assert.match(session, /^ses_\w+\tplayground-play_\w+, playground, playground-exact-loop, (?:now|\d+ s ago)$/)
    const [id = ''] = session.split('\t')
    const ids = (lines: readonly string[]) => lines.map((line) => line.split('\t', 1)[0])
    assert.deepEqual(ids(await suggested('sessions', 'pause', id.slice(0, 6))), [id])
    assert.match(external, /^playground-play_/)
    assert.deepEqual(await suggested('sessions', 'resume', ''), [])
    await home.guard('sessions', 'pause', id)
    assert.deepEqual((await suggested('sessions', 'resume', 'ses_')).length, 1)
    assert.deepEqual(await suggested('agents', 'keys', 'rev'), ['reviewer\tCode review'])
    assert.match((await suggested('agents', 'revoke', 'reviewer', '')).join(), /^gk_\w+\tgak_[\w-]*…, never used$/)
    assert.match((await suggested('replay', 'show', '')).join('\n'), /^[0-9a-f]{32}\t.*playground.*ago|now$/m)
    assert.deepEqual(await suggested('replay', 'list', '--agent', ''), ['playground\t2 runs'])
    assert.deepEqual(await suggested('replay', 'list', '--model', ''), ['playground-model'])
    assert.match((await suggested('policy', 'simulate', 'x', '--project', 'play')).join(), /^playground-exact-loop/)
    assert.match((await suggested('policy', 'apply', 'enforce')).join(), /^enforce-recommended\t\S/)
    for (const words of [
      ['no-such'],
      ['replay'],
      ['replay', 'show', 'one', ''],
      ['doctor', ''],
      ['replay', 'list', '--limit', ''],
      [],
    ])
      assert.deepEqual(await suggested(...words), [], words.join(' '))
    const nowhere = fakeIo({ cwd: '/no-such-folder' })
    assert.deepEqual(
      [await main(['__complete', 'sessions', 'pause', ''], nowhere), nowhere.outText() + nowhere.errText()],
      [0, ''],
    )
  })
})
