import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../../presets/default/main.ts'
import { type CommandHome, commandHome } from '../../../kit/command-home.ts'
import { fakeIo } from '../../../kit/io.ts'

const RULES = `mode: enforce
rules:
  - { id: exact_repeat, rule_type: exact_repeat, threshold: 5, window_size: 8, action: block, enabled: true }
  - { rule_type: max_requests, threshold: 20 }
`

describe('guard policy', () => {
  let home: CommandHome
  before(async () => {
    home = await commandHome({ served: true })
    await writeFile(join(home.folder, 'rules.yml'), RULES)
  })
  after(() => home.remove())

  it('shows the rules of a project', async () => {
    const { code, out, err } = await home.guard('policy', 'show')
    assert.equal(code, 0)
    assert.match(
      out,
      /^default: the rules that come with the gateway, mode shadow of the configuration\nrule +type +threshold +window +action/,
    )
    assert.match(out, /^exact_repeat +exact_repeat +3 +8 +block$/m)
    assert.equal(err, '')
    const { project_id, rules } = JSON.parse((await home.guard('policy', 'show', 'shop', '--json')).out)
    assert.deepEqual([project_id, rules[0].id], ['shop', 'exact_repeat'])
  })

  it('applies a file, and tells first what that changes', async () => {
    const { code, out, err } = await home.guard('policy', 'apply', 'rules.yml', '--project', 'shop', '--yes')
    assert.equal(code, 0)
    assert.match(
      err,
      /^~ mode: null -> enforce\n~ exact_repeat: threshold 3 -> 5\n~ max_requests: threshold 50 -> 20\n/,
    )
    assert.match(err, /^- id tool_repeat, rule_type tool_repeat, threshold 3, /m)
    assert.match(out, /^shop: version 1 of its own, mode enforce\n/)
    assert.match(out, /^max_requests +max_requests +20 /m)
    const { rules } = JSON.parse((await home.guard('policy', 'show', 'shop', '--json')).out)
    assert.equal(rules.length, 2)
    const same = await home.guard('policy', 'apply', 'rules.yml', '--project', 'shop', '--yes', '--json')
    assert.equal(same.err, '')
    const told = JSON.parse(same.out)
    assert.deepEqual([told.version, told.changes, told.simulation.sessions], [2, [], 0])
  })

  it('tells what the change would have done to stored sessions, and with --dry-run changes nothing', async () => {
    const project = 'playground-exact-loop'
    assert.equal((await home.guard('playground', 'run', 'exact-loop')).code, 0)
    await writeFile(
      join(home.folder, 'strict.yml'),
      'mode: enforce\nrules: [{ rule_type: exact_repeat, threshold: 2 }]\n',
    )
    const before = (await home.guard('policy', 'show', project)).out
    const told =
      /^~ exact_repeat: threshold 3 -> 2\n[\s\S]*^Tried on what is stored:\n1 session, 4 requests: 1 stopped or flagged\n[\s\S]*^ses_\w+ +guardreq_\w+ +2 +LOOP_EXACT /m
    const dry = await home.guard('policy', 'apply', 'strict.yml', '--project', project, '--dry-run')
    assert.deepEqual([dry.code, dry.err], [0, ''])
    assert.match(dry.out, told)
    const { changes, simulation } = JSON.parse(
      (await home.guard('policy', 'apply', 'strict.yml', '--project', project, '--dry-run', '--json')).out,
    )
    assert.ok(changes.includes('~ exact_repeat: threshold 3 -> 2'))
    assert.deepEqual([simulation.sessions, simulation.flagged[0].decision], [1, 'block'])
    assert.equal((await home.guard('policy', 'show', project)).out, before)
    const applied = await home.guard('policy', 'apply', 'strict.yml', '--project', project, '--yes')
    assert.match(applied.err, told)
    assert.match(applied.out, /^playground-exact-loop: version \d+ of its own, mode enforce\n/)
    const none = await home.guard('policy', 'apply', 'strict.yml', '--project', 'new', '--dry-run', '--since', '1h')
    const quiet = await home.guard('policy', 'apply', 'strict.yml', '--project', project, '--yes', '-q')
    assert.deepEqual([quiet.code, quiet.err], [0, ''])
    assert.match(none.out, /\nThere is no stored session to try this on\.\n$/)
    const wrong = await home.guard('policy', 'apply', 'strict.yml', '--dry-run', '--since', 'soon')
    assert.deepEqual([wrong.code, wrong.out], [2, ''])
    assert.match(wrong.err, /^error: "since" must be a time like .*\n$/)
  })

  it('applies a preset by its name', async () => {
    const { code, out } = await home.guard('policy', 'apply', 'default', '--project', 'shop', '--yes')
    assert.equal(code, 0)
    assert.match(out, /^tool_repeat +tool_repeat +3 /m)
  })

  it('lists the presets, a line each, and says which one to start with', async () => {
    const { code, out, err } = await home.guard('policy', 'apply')
    assert.equal(code, 0)
    assert.match(out, /^enforce-recommended +what is surely stuck blocks.*\nsteer-recommended +.*\npause-recommended +/)
    assert.match(out, /^observe +.*\ndefault +.*\n$/m)
    assert.match(err, /^To stop agents that are stuck: .*guard.* policy apply enforce-recommended --mode enforce\n$/)
    const { presets } = JSON.parse((await home.guard('policy', 'apply', '--json')).out)
    assert.deepEqual([presets.length, presets[0].name], [5, 'enforce-recommended'])
  })

  it('sets the mode with the rules, and leads from the default rules to the recommended ones', async () => {
    const apply = (...words: readonly string[]) => home.guard('policy', 'apply', ...words, '--project', 'led', '--yes')
    const shadow = await apply('enforce-recommended')
    assert.match(shadow.err, /^Rules stop something in enforce mode alone: .* --mode enforce --project led$/m)
    const literal = await apply('default', '--mode', 'enforce')
    assert.match(literal.err, /^warning: Enforced, the default rules also stop what is no loop: /m)
    assert.match(literal.err, /^ {2}\S.* policy apply enforce-recommended --mode enforce --project led\n$/m)
    const recommended = await apply('enforce-recommended', '--mode', 'enforce')
    assert.match(recommended.out, /^led: version 3 of its own, mode enforce\n/)
    assert.doesNotMatch(recommended.err, /warning|--mode enforce/)
    await writeFile(join(home.folder, 'bare.yml'), '- { rule_type: exact_repeat }\n')
    const bare = await apply('bare.yml', '--mode', 'shadow')
    assert.match(bare.err, /^~ mode: enforce -> shadow$/m)
    assert.match(bare.out, /^led: version 4 of its own, mode shadow\n/)
  })

  it('without a project sets the rules of every project that has none of its own', async () => {
    const shown = await home.guard('policy', 'apply', 'enforce-recommended', '--mode', 'enforce', '--yes')
    assert.equal(shown.code, 0)
    const heir = await home.guard('policy', 'show', 'heir')
    assert.match(heir.out, /^heir: inherited from project default, mode enforce\n/)
    const shadow = await home.guard('policy', 'apply', 'default', '--yes', '--mode', 'shadow')
    assert.match(shadow.err, /policy apply <preset_or_file> --mode enforce\n$/)
    assert.match(
      (await home.guard('policy', 'show', 'heir')).out,
      /^heir: inherited from project default, mode shadow\n/,
    )
  })

  it('asks on a terminal, and changes nothing without a yes', async () => {
    const before = await home.guard('policy', 'show', 'asked')
    for (const [typed, code] of [
      ['n\n', 1],
      ['\u0003', 1],
      ['\u0004', 1],
      ['y\n', 0],
    ] as const) {
      const input = Object.assign(new PassThrough(), { isTTY: true })
      const io = { ...fakeIo({ cwd: home.folder, env: { CI: '1' }, tty: true }), in: input }
      input.end(typed)
      assert.equal(await main(['policy', 'apply', 'rules.yml', '--project', 'asked'], io), code)
      assert.match(io.errText(), /Apply this to project "asked"\? \[y\/N\] /)
      assert.doesNotMatch(io.errText(), /Aborted/)
      const now = await home.guard('policy', 'show', 'asked')
      assert.equal(now.out === before.out, code === 1)
    }
  })

  it('removes the policy of a project, and tells which one it follows now and what differs', async () => {
    await home.guard('policy', 'apply', 'default', '--mode', 'shadow', '--yes')
    await home.guard('policy', 'apply', 'rules.yml', '--project', 'back', '--yes')
    const { code, out, err } = await home.guard('policy', 'remove', 'back', '--yes')
    assert.equal(code, 0)
    assert.match(out, /^back: inherited from project default, mode shadow\nrule +type /)
    assert.match(err, /^~ mode: enforce -> shadow\n~ exact_repeat: threshold 5 -> 3\n/)
    assert.match(
      (await home.guard('policy', 'show', 'back')).out,
      /^back: inherited from project default, mode shadow\n/,
    )
    const none = await home.guard('policy', 'remove', 'back')
    assert.notEqual(none.code, 0)
    assert.match(none.err, /^error: Project "back" has no policy of its own\. .*NOT_FOUND/)
    await home.guard('policy', 'apply', 'rules.yml', '--project', 'back', '--yes')
    const told = await home.guard('policy', 'remove', 'back', '--yes', '--json')
    const { project_id, source, version, changes } = JSON.parse(told.out)
    assert.deepEqual([project_id, source, version, told.err], ['back', 'inherited', 0, ''])
    assert.ok(changes.includes('~ mode: enforce -> shadow'))
    const all = await home.guard('policy', 'remove', 'default', '--yes', '-q')
    assert.deepEqual([all.code, all.err], [0, ''])
    assert.match(all.out, /^default: the rules that come with the gateway, mode shadow of the configuration\n/)
    assert.match(
      (await home.guard('policy', 'apply', 'rules.yml', '--project', 'back', '--yes')).out,
      /^back: version 3 of its own, /,
    )
  })

  it('asks before it removes, and removes nothing without a yes', async () => {
    await home.guard('policy', 'apply', 'rules.yml', '--project', 'kept', '--yes')
    const unasked = await home.guard('policy', 'remove', 'kept')
    assert.equal(unasked.code, 2)
    assert.match(unasked.err, /Nobody can be asked here; add --yes to remove\. \(USAGE\)/)
    for (const [typed, code] of [
      ['n\n', 1],
      ['y\n', 0],
    ] as const) {
      const input = Object.assign(new PassThrough(), { isTTY: true })
      const io = { ...fakeIo({ cwd: home.folder, env: { CI: '1' }, tty: true }), in: input }
      input.end(typed)
      assert.equal(await main(['policy', 'remove', 'kept'], io), code)
      assert.match(
        io.errText(),
        /Remove the policy of project "kept" \(version 1, mode enforce\)\? Then that of project default holds\. \[y\/N\] /,
      )
      const { source } = JSON.parse((await home.guard('policy', 'show', 'kept', '--json')).out)
      assert.equal(source === 'own', code === 1)
    }
  })

  it('says what cannot be applied', async () => {
    await writeFile(join(home.folder, 'broken.yml'), 'rules: [')
    await writeFile(join(home.folder, 'wrong.yml'), 'rules: [{ rule_type: exact_repeat, threshold: -1 }]')
    await writeFile(join(home.folder, 'word.yml'), 'shop')
    for (const [words, code, message] of [
      [['rules.yml'], 2, /Nobody can be asked here; add --yes to apply\. \(USAGE\)/],
      [
        ['defualt', '--yes'],
        78,
        /"defualt" names no preset, and there is no such file; presets are enforce-recommended, steer-rec/,
      ],
      [['broken.yml', '--yes'], 78, /INVALID_YAML/],
      [['wrong.yml', '--yes'], 78, /rules\/0\/threshold must be an integer .*INVALID_POLICY/],
      [['word.yml', '--yes'], 78, /"word\.yml" holds no policy and no list of rules/],
      [['rules.yml', '--yes', '--project', 'a b'], 2, /project id .*INVALID_REQUEST/],
    ] as const) {
      const told = await home.guard('policy', 'apply', ...words)
      assert.equal(told.code, code, told.err)
      assert.match(told.err, message)
      assert.doesNotMatch(told.err, /^ +at /m)
    }
  })
})
