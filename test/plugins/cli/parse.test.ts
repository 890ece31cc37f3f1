import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Command } from '#lib/command'
import { parse } from '../../../plugins/cli/parse.ts'

const command = (id: string, more: Partial<Command> = {}): Command => ({ id, summary: id, run: async () => 0, ...more })

const commands = [
  command('gateway run', {
    options: { '--port <number>': 'port', '--allow-remote': 'remote', '--data <folder-or-file>': 'data' },
  }),
  command('replay export', { args: '<trace_id>', options: { '--output <file>': 'file' } }),
  command('replay import', { args: '<file>' }),
  command('setup', { args: '[...clients]' }),
  command('run', { args: '[name]' }),
  command('wrap', { args: '[-- command...]' }),
]

const ran = (...argv: string[]) => {
  const parsed = parse(commands, argv)
  assert.equal(parsed.kind, 'run', JSON.stringify(parsed))
  return parsed.kind === 'run' ? { id: parsed.command.id, ...parsed.input } : assert.fail()
}
const said = (...argv: string[]): string => {
  const parsed = parse(commands, argv)
  return 'message' in parsed ? parsed.message : assert.fail(`${parsed.kind} says nothing`)
}

describe('a command line', () => {
  it('folds a command of two words', () => {
    assert.equal(ran('gateway', 'run').id, 'gateway run')
    assert.deepEqual(ran('replay', 'export', 'abc').args, ['abc'])
  })
  it('prefers the command of two words to the one of one', () => {
    assert.equal(ran('run', 'gateway').id, 'run')
    assert.deepEqual(ran('run', 'gateway').args, ['gateway'])
  })
  it('takes flags for every command before the command too, and does not mistake their value for it', () => {
    const { id, options } = ran('--config', 'gateway', '--json', 'gateway', 'run')
    assert.equal(id, 'gateway run')
    assert.equal(options.config, 'gateway')
    assert.equal(options.json, true)
  })
  it('keeps values as they were typed', () => {
    assert.equal(ran('gateway', 'run', '--port', '007').options.port, '007')
    assert.equal(ran('gateway', 'run', '--data=1e3').options.data, '1e3')
    assert.equal(ran('gateway', 'run', '--data=').options.data, '')
    assert.equal(ran('gateway', 'run', '--data', 'a=b --c').options.data, 'a=b --c')
  })
  it('takes a lone dash as an argument and as a value', () => {
    assert.deepEqual(ran('replay', 'import', '-').args, ['-'])
    assert.equal(ran('replay', 'export', 'abc', '--output', '-').options.output, '-')
  })
  it('leaves what follows -- untouched', () => {
    const { args, rest, options } = ran('wrap', '--', 'npx', '-y', '--port', '007', '--', '--json')
    assert.deepEqual(args, [])
    assert.deepEqual(rest, ['npx', '-y', '--port', '007', '--', '--json'])
    assert.equal(options.json, undefined)
  })
  it('takes what follows -- as arguments where no command belongs', () => {
    const { args, rest } = ran('setup', 'a', '--', '-b', '--json', '--')
    assert.deepEqual([args, rest], [['a', '-b', '--json', '--'], []])
    assert.equal(said('gateway', 'run', '--', 'now'), '"guard gateway run" does not take "now".')
  })
  it('takes flags for every command between its two words, and no others', () => {
    assert.equal(ran('gateway', '--json', '--config', 'x', 'run').id, 'gateway run')
    assert.equal(said('gateway', '--port', 'run'), '"gateway" needs one more word: run.')
    assert.equal(said('--port', '1', 'gateway', 'run'), 'Unknown option --port.')
  })
  it('leaves words behind a flag without a value as they were typed', () => {
    for (const word of ['true', '007', '1e3', ''])
      assert.deepEqual(ran('setup', '--json', word), { id: 'setup', args: [word], options: { json: true }, rest: [] })
    assert.deepEqual(ran('setup', '--json', '--json').options, { json: true })
  })
  it('knows short flags and flags of two words', () => {
    assert.equal(ran('gateway', 'run', '-q').options.quiet, true)
    assert.equal(ran('gateway', 'run', '--allow-remote').options.allowRemote, true)
    assert.equal(ran('gateway', 'run', '--no-color').options.color, false)
  })
  it('takes as many arguments as the command takes', () => {
    assert.deepEqual(ran('setup').args, [])
    assert.deepEqual(ran('setup', 'a', 'b', 'c').args, ['a', 'b', 'c'])
    assert.equal(said('replay', 'import'), '"guard replay import" needs <file>.')
    assert.equal(said('gateway', 'run', 'now'), '"guard gateway run" does not take "now".')
    const behind = '"guard wrap" takes a command after "--" only, as in "guard wrap -- npx".'
    assert.equal(said('wrap', 'npx', '--', '-y'), behind)
  })
})

describe('a wrong command line', () => {
  it('names the nearest command', () => {
    assert.equal(said('setpu'), 'Unknown command "setpu". Did you mean "setup"?')
    assert.equal(said('repaly', 'export'), 'Unknown command "repaly". Did you mean "replay"?')
    assert.equal(said('xyzzyx'), 'Unknown command "xyzzyx".')
  })
  it('names what can follow the first word', () => {
    assert.equal(said('replay'), '"replay" needs one more word: export, import.')
    assert.equal(
      said('replay', 'exprot', 'abc'),
      'There is no "replay exprot"; there is export, import. Did you mean "export"?',
    )
  })
  it('names the nearest flag', () => {
    assert.equal(
      said('gateway', 'run', '--prot', '1'),
      'Unknown option --prot for "gateway run". Did you mean "--port"?',
    )
    assert.equal(said('--verison'), 'Unknown option --verison. Did you mean "--version"?')
    assert.equal(said('gateway', 'run', '-x'), 'Unknown option -x for "gateway run".')
  })
  it('names a flag in another spelling than its own as it was typed', () => {
    for (const [typed, meant] of [
      ['--allowRemote', '--allow-remote'],
      ['--Port', '--port'],
      ['-port', '--port'],
      ['--port.x', '--port'],
      ['--no-json', '--json'],
      ['--color', '--no-color'],
    ] as const)
      assert.equal(said('gateway', 'run', typed), `Unknown option ${typed} for "gateway run". Did you mean "${meant}"?`)
    for (const typed of ['--__proto__', '--constructor', '--constructor.prototype.x', '--toString'])
      assert.equal(said('setup', `${typed}=1`), `Unknown option ${typed} for "setup".`)
  })
  it('says that a flag needs a value, takes none, or is there twice', () => {
    assert.equal(said('gateway', 'run', '--port'), '--port needs a value.')
    assert.equal(said('gateway', 'run', '--port', '--json'), '--port needs a value.')
    assert.equal(said('gateway', 'run', '--port', '1', '--port', '2'), '--port is given twice.')
    assert.equal(said('gateway', 'run', '--port', '-1'), '--port needs a value.')
    assert.equal(said('--config'), '--config needs a value.')
    assert.equal(said('setup', '--json=a b'), '--json takes names of fields, as in --json id,status, not "a b".')
    assert.equal(said('setup', '--quiet=true'), '--quiet takes no value.')
    assert.equal(said('setup', '-q=1'), '-q takes no value.')
    assert.equal(said(''), 'Unknown command "".')
  })
})

describe('help and version', () => {
  it('are flags, short flags and words', () => {
    for (const argv of [['--help'], ['-h'], ['help'], []]) assert.equal(parse(commands, argv).kind, 'help')
    for (const argv of [['--version'], ['-v'], ['version'], ['gateway', 'run', '-v'], ['setup', '-qv']])
      assert.equal(parse(commands, argv).kind, 'version')
  })
  it('help about one command, before its arguments are checked', () => {
    for (const argv of [
      ['replay', 'import', '--help'],
      ['help', 'replay', 'import'],
    ]) {
      const parsed = parse(commands, argv)
      assert.equal(parsed.kind === 'help' && parsed.topic?.id, 'replay import')
    }
  })
  it('help about the first word of several commands', () => {
    for (const argv of [
      ['replay', '--help'],
      ['replay', '-h'],
      ['help', 'replay'],
    ]) {
      const parsed = parse(commands, argv)
      assert.equal(parsed.kind === 'help' && parsed.group, 'replay')
    }
  })
  it('help about something unknown is an unknown command', () => {
    assert.equal(parse(commands, ['help', 'setpu']).kind, 'unknown')
  })
})
