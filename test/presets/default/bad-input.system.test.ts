import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { type CommandHome, commandHome, type Told } from '../../kit/command-home.ts'
import { fakeIo } from '../../kit/io.ts'

const overview = readFileSync(join(import.meta.dirname, '../../../presets/default/help.txt'), 'utf8')

/** Every command of the overview, with its first argument where it needs one. */
const commands = [...overview.matchAll(/^ {2}([a-z]+(?: [a-z-]+)?)(?: (<[^>]+>|\[[^\]]+\]))* /gm)].map(
  ([line = '', id = '']) => ({ id, needs: /<[^>]+>/.exec(line)?.[0] }),
)

/** One line that says what is wrong, nothing for programs to misread, and no place in our source. */
const assertOneLine = ({ out, err }: Told, words: readonly string[]): void => {
  assert.match(err, /^error: [^\n]+\n$/, words.join(' '))
  assert.equal(out, '', words.join(' '))
}

type Row = readonly [line: string, code: number, says: RegExp]

/** What cannot be done where a gateway runs. */
const served: readonly Row[] = [
  ['--nope', 2, /Unknown option --nope\. Run "guard --help"/],
  ['repaly list', 2, /Did you mean "replay"\?/],
  ['replay', 2, /"replay" needs one more word: list, show, /],
  ['help nope', 2, /Unknown command "nope"/],
  ['replay list extra', 2, /does not take "extra"/],
  ['replay show --spans', 2, /--spans needs a value/],
  ['replay export x --format json --format jsonl', 2, /--format is given twice/],
  ['replay show nope', 1, /There is no run "nope".*RUN_NOT_FOUND/],
  ['replay pin nope', 1, /There is no run "nope".*RUN_NOT_FOUND/],
  ['replay unpin nope', 1, /RUN_NOT_FOUND/],
  ['replay show .', 2, /"\." is the name of nothing/],
  ['sessions pause ..', 2, /"\.\." is the name of nothing/],
  ['replay compare a b', 1, /There is no run "a".*RUN_NOT_FOUND/],
  ['replay export nope', 1, /There is no run "nope"/],
  ['replay export nope --format xml', 2, /no format "xml"; there is json, jsonl, otel/],
  ['replay list --limit x', 2, /"limit" must be an integer from 1 to 200\. \(INVALID_FILTER/],
  ['replay list --since lately', 2, /"since" must be a time/],
  ['replay tail --since never', 2, /"since" must be a time/],
  ['replay import missing.json', 2, /missing\.json cannot be read/],
  ['replay import broken.json', 1, /of no known format; there is Claude Code, Codex, .*json/],
  ['replay import broken.json --on-conflict maybe', 2, /must be remap, skip, fail/],
  ['playground run exakt-loop', 1, /no scenario "exakt-loop"; there is .*SCENARIO_NOT_FOUND/],
  ['playground run exact-loop --mode loud', 2, /--mode is shadow or enforce, not "loud"/],
  ['playground run exact-loop --style latin', 2, /cannot be run in style "latin"; there is chat_completions/],
  ['playground run exact-loop --all', 2, /Name a scenario or say --all, not both: "exact-loop"/],
  ['playground run exact-loop --pace 9000', 2, /--pace takes 0 to 2000/],
  ['sessions pause', 2, /needs <id>\. Run "guard sessions pause --help" for what it takes\.\n$/],
  ['sessions show nope', 1, /no session "nope".*SESSION_NOT_FOUND/],
  ['sessions list --limit 0', 2, /limit/],
  ['agents add a/b', 2, /"id" cannot be used.*INVALID_REQUEST/],
  ['agents pause nope', 1, /no agent "nope".*AGENT_NOT_FOUND/],
  ['policy show a/b', 2, /A project id is/],
  ['policy apply missing.yml --yes', 78, /names no preset, and there is no such file/],
  ['policy apply broken.yml --yes', 78, /^error: broken\.yml:1:9: .*INVALID_YAML/],
  ['policy simulate broken.yml', 78, /^error: broken\.yml:1:9: .*INVALID_YAML/],
  ['completion csh', 2, /no completion for "csh"; there is bash, zsh, fish/],
  ['mcp validate-policy missing.yml', 2, /The file missing\.yml does not exist/],
  ['mcp explain', 2, /--policy <file>/],
  ['mcp explain --policy broken.yml --tool x', 78, /broken\.yml:1:9: [A-Z].*INVALID_POLICY/],
  ['mcp explain --policy policy.yml --tool x --arguments nojson', 1, /INVALID_JSON/],
  ['mcp approvals nope', 2, /followed by list, show, allow, deny, rule, undo, watch, not "nope"/],
  ['mcp approvals allow', 2, /takes the id of one approval/],
  ['mcp approvals allow apr_nope', 1, /no approval "apr_nope".*APPROVAL_NOT_FOUND/],
  ['mcp approvals list --status odd', 2, /allowed values: pending, allowed/],
  ['mcp pins accept nope tool', 1, /MCP_SERVER_NOT_FOUND/],
  ['mcp export --format xml', 2, /allowed values: json, jsonl/],
  [
    'mcp export --output /nowhere/x.json',
    2,
    /\/nowhere\/x\.json cannot be written: there is no such folder \(ENOENT\)\. Name another file\. /,
  ],
  ['mcp run', 2, /needs --server-id <id>, and the server's command/],
  ['mcp run --bundle all -- node', 2, /or --bundle <id> for servers of the configuration/],
  ['mcp run --server-id x --policy missing.yml -- true', 78, /missing\.yml: does not exist/],
  ['mcp serve --server nonsense', 2, /--server takes <id>=<address>/],
  ['mcp test-server --transport pigeon', 2, /--transport is http or stdio/],
  ['mcp test-server --port x', 2, /--port is a whole number from 0 to 65535/],
  ['mcp test-server --misbehave how', 2, /--misbehave is one of noise/],
  ['explain NOPE', 1, /There is no code "NOPE"\. There is N[A-Z_, ]+\.\n$/],
  ['key print --agent nobody', 2, /no key of agent "nobody"/],
  ['setup nope', 2, /no client "nope"; there is claude-code/],
  ['run', 2, /needs a command after "--"/],
  ['doctor nope', 2, /no client "nope"; there is claude-code, /],
  ['gateway run --port x', 2, /--port takes a number from 0 to 65535/],
  ['gateway run --port 99999', 2, /--port takes a number from 0 to 65535/],
  ['gateway run --config missing.yml', 78, /missing\.yml does not exist; "guard gateway run --init" writes one/],
  ['status --config missing.yml', 78, /missing\.yml does not exist/],
  ['status --config .', 78, /is a folder; name the file in it/],
  ['status --config broken.yml', 78, /broken\.yml:1:9: .*INVALID_CONFIG/],
  [
    'storage backup /nowhere/x.db',
    2,
    /\/nowhere\/x\.db cannot be written: there is no such folder \(ENOENT\)\. Name another file\. /,
  ],
]

/** What cannot be done where none runs. */
const alone: readonly Row[] = [
  ['playground open', 69, /No gateway answers at .* Start it with "guard gateway run"\. \(GATEWAY_NOT_RUNNING\)/],
  ['replay tail', 69, /No gateway answers at .* Start it with "guard gateway run"/],
  ['run -- true', 69, /No gateway answers at .*, or add --start/],
]

const commandWords = (line: string): readonly string[] => line.split(' ')

describe('invalid command lines', () => {
  let home: CommandHome
  let quiet: CommandHome
  before(async () => {
    home = await commandHome({ served: true })
    quiet = await commandHome()
    await writeFile(join(home.folder, 'broken.json'), '{ "x": ')
    await writeFile(join(home.folder, 'broken.yml'), 'rules: [')
    await writeFile(join(home.folder, 'policy.yml'), 'version: 1\ndefault: deny\nrules: []\n')
  })
  after(() => Promise.all([home.remove(), quiet.remove()]))

  it('reject an unknown flag of every command', async () => {
    assert.ok(commands.length > 30, overview)
    for (const { id } of commands) {
      const words = [...commandWords(id), '--nope']
      const told = await home.guard(...words)
      assertOneLine(told, words)
      assert.match(told.err, new RegExp(`Unknown option --nope for "${id}"`))
      assert.equal(told.code, 2)
    }
  })

  it('reject a missing argument of every command that needs one', async () => {
    const needing = commands.filter(({ needs }) => needs !== undefined)
    assert.ok(needing.length > 10)
    for (const { id, needs = '' } of needing) {
      const told = await home.guard(...commandWords(id))
      assertOneLine(told, [id])
      assert.ok(told.err.includes(`"guard ${id}" needs ${needs}.`), told.err)
      assert.equal(told.code, 2)
    }
  })

  for (const [line, code, says] of served) {
    it(`guard ${line}`, async () => {
      const told = await home.guard(...commandWords(line))
      assertOneLine(told, [line])
      assert.match(told.err, says)
      assert.equal(told.code, code)
    })
  }

  for (const [line, code, says] of alone) {
    it(`guard ${line}, without a running gateway`, async () => {
      const told = await quiet.guard(...commandWords(line))
      assertOneLine(told, [line])
      assert.match(told.err, says)
      assert.equal(told.code, code)
    })
  }

  it('return one JSON object with --json', async () => {
    for (const [line, code] of [
      ['replay show nope', 'RUN_NOT_FOUND'],
      ['repaly', 'USAGE'],
      ['status --config missing.yml', 'INVALID_CONFIG'],
    ] as const) {
      const { out, err } = await home.guard(...commandWords(line), '--json')
      assert.equal(out, '')
      const { error } = JSON.parse(err)
      assert.equal(error.code, code)
      assert.equal(typeof error.hint, 'string')
    }
  })

  it('print the stack with either debug flag', async () => {
    for (const flag of ['--verbose', '--debug']) {
      const { err } = await home.guard('replay', 'show', 'nope', flag)
      assert.match(err, /^error: There is no run "nope"[^\n]*\n(?:GuardError|Error)[^\n]*\n +at /)
    }
  })

  it('reject an unknown server, also for a client that waits or has closed', async () => {
    const words = ['mcp', 'run', '--server-id', 'x', '--policy', 'policy.yml', '--', 'no-such-program']
    for (const input of [new PassThrough(), new PassThrough().end()]) {
      const io = { ...fakeIo({ cwd: home.folder, env: { CI: '1' } }), in: input }
      assert.equal(await main(words, io), 127)
      assert.equal(io.outText(), '')
      assert.match(io.errText(), /^\[guard\] starting .*\n\[guard\] Upstream server could not be started \(ENOENT\)\n$/)
    }
  })
})
