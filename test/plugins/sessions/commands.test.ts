import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type CommandHome, commandHome } from '../../kit/command-home.ts'

describe('guard sessions and guard agents', () => {
  let home: CommandHome
  let id = ''
  before(async () => {
    home = await commandHome({ served: true })
    await home.guard('playground', 'run', 'exact-loop', '--mode', 'enforce')
  })
  after(() => home.remove())

  it('list sessions as a table, or as the interface gives them', async () => {
    const { code, out, err } = await home.guard('sessions', 'list', '--project', 'playground-exact-loop')
    assert.equal(code, 0)
    assert.match(out, /^session +agent +project +state +last seen +requests +flagged +blocked +tokens +cost +id$/m)
    assert.match(
      out,
      /^playground-play_\w+ +playground +playground-exact-loop +[\d-]+ [\d:]+ +2 +0 +1 +52 +\S+ +ses_\w+$/m,
    )
    assert.equal(err, '')
    const { sessions } = JSON.parse((await home.guard('sessions', 'list', '--json')).out)
    assert.deepEqual([sessions.length, sessions[0].agent_id, sessions[0].requests], [1, 'playground', 2])
    id = sessions[0].id
    const none = await home.guard('sessions', 'list', '--agent', 'nobody')
    assert.deepEqual([none.code, none.out, none.err], [0, '', 'There are no such sessions.\n'])
  })

  it('show, pause and resume a session', async () => {
    const shown = await home.guard('sessions', 'show', id)
    assert.match(shown.out, /^state +active$/m)
    assert.match(shown.out, /^requests +2, 0 flagged, 1 blocked, 0 errors$/m)
    const paused = await home.guard('sessions', 'pause', id, '--reason', 'runs in circles')
    assert.deepEqual([paused.code, paused.out], [0, `${id}  paused\n`])
    assert.match((await home.guard('sessions', 'show', id)).out, /^pause reason +runs in circles$/m)
    assert.match((await home.guard('sessions', 'list', '--paused')).out, / paused .*ses_\w+$/m)
    const { session } = JSON.parse((await home.guard('sessions', 'show', id, '--json')).out)
    assert.deepEqual([session.paused, session.pause_reason], [true, 'runs in circles'])
    assert.equal((await home.guard('sessions', 'resume', session.external_id)).out, `${id}  active\n`)
    const last = JSON.parse((await home.guard('sessions', 'resume', id, '--json')).out)
    assert.equal(last.session.paused, false)
  })

  it('register an agent and print its key alone, once', async () => {
    const added = await home.guard('agents', 'add', 'reviewer', '--name', 'The reviewer', '--project', 'shop')
    assert.equal(added.code, 0)
    assert.match(added.out, /^gak_[\w-]{20,}\n$/)
    assert.match(added.err, /^Registered "reviewer"\. This is its key; it is shown this once/)
    const listed = await home.guard('agents', 'list')
    assert.match(listed.out, /^agent +name +state +project +since +keys +registered by$/m)
    assert.match(listed.out, /^reviewer +The reviewer +shop +[\d-]+ [\d:]+ +1 +api$/m)
    assert.ok(!listed.out.includes(added.out.trim()))
    const keyless = await home.guard('agents', 'add', 'silent', '--no-key')
    assert.deepEqual([keyless.code, keyless.out], [0, ''])
    const { agent, key } = JSON.parse((await home.guard('agents', 'add', 'third', '--json')).out)
    assert.deepEqual([agent.id, agent.keys.length, typeof key], ['third', 1, 'string'])
    const again = await home.guard('agents', 'add', 'reviewer')
    assert.deepEqual([again.code, again.out], [1, ''])
    assert.match(again.err, /^error: There is an agent "reviewer" already\..*\(AGENT_EXISTS\)\n$/)
  })

  it('list, issue and revoke keys of an agent; a new one is printed alone, once', async () => {
    const issued = await home.guard('agents', 'issue', 'reviewer')
    assert.match(issued.out, /^gak_[\w-]{20,}\n$/)
    const [id = ''] = /gk_\w+/.exec(issued.err) ?? []
    const listed = await home.guard('agents', 'keys', 'reviewer')
    assert.match(listed.out, /^key +begins +since +last used$/m)
    assert.match(listed.out, new RegExp(`^${id} +${issued.out.slice(0, 8)}… +[\\d-]+ [\\d:]+ +never$`, 'm'))
    assert.ok(!listed.out.includes(issued.out.trim()))
    assert.equal((await home.guard('agents', 'revoke', 'reviewer', id)).out, `${id}  revoked\n`)
    const { keys } = JSON.parse((await home.guard('agents', 'keys', 'reviewer', '--json')).out)
    assert.deepEqual([keys.length, keys[0].id === id], [1, false])
    const gone = await home.guard('agents', 'revoke', 'reviewer', id)
    assert.deepEqual([gone.code, gone.out], [1, ''])
    assert.match(gone.err, /\(KEY_NOT_FOUND\)\n$/)
    assert.equal((await home.guard('agents', 'keys', 'silent')).err, '"silent" has no key of its own.\n')
    const { key_id, key } = JSON.parse((await home.guard('agents', 'issue', 'silent', '--json')).out)
    const revoked = JSON.parse((await home.guard('agents', 'revoke', 'silent', key_id, '--json')).out)
    assert.deepEqual([typeof key, revoked], ['string', { key_id, revoked: true }])
  })

  it('end a session, and take that back', async () => {
    assert.deepEqual((await home.guard('sessions', 'end', id)).out, `${id}  ended\n`)
    assert.match((await home.guard('sessions', 'show', id)).out, /^state +ended$/m)
    assert.match((await home.guard('sessions', 'list')).out, / ended .*ses_\w+$/m)
    assert.deepEqual((await home.guard('sessions', 'resume', id)).out, `${id}  active\n`)
  })
  it('pause and resume an agent', async () => {
    assert.equal((await home.guard('agents', 'pause', 'reviewer')).out, 'reviewer  paused\n')
    assert.match((await home.guard('agents', 'list', '--paused')).out, /^reviewer .* paused /m)
    assert.equal((await home.guard('agents', 'resume', 'reviewer')).out, 'reviewer  active\n')
    assert.equal(JSON.parse((await home.guard('agents', 'resume', 'reviewer', '--json')).out).agent.paused, false)
  })

  it('tell of pages that follow', async () => {
    const { err } = await home.guard('agents', 'list', '--limit', '1')
    assert.equal((await home.guard('agents', 'list', '--limit', '1', '-q')).err, '')
    const cursor = /^more: --cursor (\S+)\n$/.exec(err)?.[1] ?? ''
    const { out } = await home.guard('agents', 'list', '--limit', '1', '--cursor', cursor)
    assert.match(out, /^silent /m)
  })

  it('ask the storage where no gateway runs', async () => {
    const alone = await commandHome()
    try {
      const added = await alone.guard('agents', 'add', 'reviewer', '--json')
      assert.equal(JSON.parse(added.out).agent.id, 'reviewer')
      assert.match((await alone.guard('agents', 'list')).out, /^reviewer /m)
      const refused = await alone.guard('sessions', 'list', '--limit', 'x')
      assert.deepEqual([refused.code, refused.out], [2, ''])
      assert.match(refused.err, /^error: The query at \/limit must be integer\. \(INVALID_REQUEST\)\n$/)
      // as a gateway does, which takes no number that only JavaScript would write so
      const spelled = ['sessions', 'list', '--limit', '1e1'] as const
      assert.deepEqual(await alone.guard(...spelled), refused)
      assert.equal((await home.guard(...spelled)).err, refused.err)
    } finally {
      await alone.remove()
    }
  })

  it('say what they do not know in one line', async () => {
    for (const [words, code] of [
      [['sessions', 'show', 'ses_nobody'], 'SESSION_NOT_FOUND'],
      [['sessions', 'pause', 'ses_nobody'], 'SESSION_NOT_FOUND'],
      [['agents', 'pause', 'nobody'], 'AGENT_NOT_FOUND'],
      [['sessions', 'list', '--limit', 'x'], 'INVALID_REQUEST'],
    ] as const) {
      const told = await home.guard(...words)
      assert.equal(told.code, code === 'INVALID_REQUEST' ? 2 : 1, words.join(' '))
      assert.match(told.err, new RegExp(`^error: [^\\n]* \\(${code}\\)\\n$`))
      assert.equal(told.out, '')
    }
  })
})
