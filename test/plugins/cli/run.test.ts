import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, GuardError } from 'guard-gateway/core'
import { cli, runCli } from 'guard-gateway/plugins/cli'
import { foundation } from 'guard-gateway/presets/foundation'
import { type Command, commandKind } from '#lib/command'
import { databaseErrors } from '#lib/errors'
import { httpErrors } from '../../../plugins/http/error-codes.ts'
import { fakeIo } from '../../kit/io.ts'

const secret = 'guard_0123456789abcdefghijklmnopqrstuvwxyzABCDEF'

const failing = (error: unknown): Command => ({
  id: 'replay fail',
  summary: 'fail',
  example: 'guard replay fail',
  run: () => Promise.reject(error),
})

const gatewayWith = (...commands: readonly Command[]): Gateway => {
  const gateway = new Gateway().use(...foundation(), cli())
  gateway.secrets.add(secret)
  for (const command of commands) gateway.registry(commandKind).add(command)
  return gateway
}

const guard = async (argv: readonly string[], { own, builtIn = [], configError, ...about }: Setting = {}) => {
  const io = fakeIo(about)
  const code = await runCli(argv, io, {
    version: '1.2.3',
    builtIn: async () => gatewayWith(...builtIn),
    configured: async () => {
      if (configError !== undefined) throw configError
      return gatewayWith(...builtIn, ...(own ?? []))
    },
    extended: async () => own !== undefined,
    address: async () => 'http://127.0.0.1:8787',
  })
  return { code, out: io.outText(), err: io.errText() }
}

interface Setting {
  readonly own?: readonly Command[]
  readonly builtIn?: readonly Command[]
  readonly configError?: GuardError
  readonly tty?: boolean
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
}

const after = (error: unknown, argv: readonly string[] = [], setting: Setting = {}) =>
  guard(['replay', 'fail', ...argv], { builtIn: [failing(error)], ...setting })

describe('help', () => {
  it('lists the commands there are, on stdout', async () => {
    const { code, out, err } = await guard(['--help'], { builtIn: [failing(null)] })
    assert.equal(code, 0)
    assert.match(out, /Usage: guard <command> \[options\]/)
    assert.match(out, / {2}explain <code> +say what an error code means/)
    assert.match(out, / {2}replay fail +fail/)
    assert.equal(err, '')
  })
  it('about one command shows its flags and its example', async () => {
    const builtIn = [{ ...failing(null), options: { '--speed <number>': 'how fast' } }]
    const { code, out } = await guard(['replay', 'fail', '--help'], { builtIn })
    assert.equal(code, 0)
    assert.match(out, /^Fail\.\n\nUsage: guard replay fail \[options\]\n/)
    assert.match(out, /--speed <number> +how fast/)
    assert.match(out, /Example\n {2}guard replay fail\n\nFor every command: --config, --json, /)
  })
  it('says where options of a command stand that starts another', async () => {
    const command = { ...failing(null), options: { '--speed <number>': 'how fast' } }
    const usage = async (args: string) => {
      const { out } = await guard(['replay', 'fail', '--help'], { builtIn: [{ ...command, args }] })
      return /^Usage: guard replay fail (.*)$/m.exec(out)?.[1]
    }
    assert.equal(await usage('[-- command...]'), '[options] [-- command...]')
    assert.equal(await usage('<code>'), '<code> [options]')
  })
  it('about the first word of several commands lists these, those of the user too', async () => {
    const { code, out } = await guard(['replay', '--help'], { own: [failing(null)] })
    assert.equal(code, 0)
    assert.match(out, /^Usage: guard replay <command> \[options\]\n\n {2}replay fail +fail\n\n"guard replay <command>/)
  })
  it('lists commands of the user, and is there although the configuration is broken', async () => {
    const own = [failing(null)]
    assert.match((await guard(['--help'], { own })).out, /replay fail/)
    const broken = await guard(['--help'], { own, configError: new GuardError('INVALID_CONFIG') })
    assert.equal(broken.code, 0)
    assert.doesNotMatch(broken.out, /replay fail/)
  })
})

describe('version', () => {
  it('is one line, or one object', async () => {
    assert.equal((await guard(['--version'])).out, '1.2.3\n')
    assert.deepEqual(JSON.parse((await guard(['version', '--json'])).out), { version: '1.2.3' })
  })
})

describe('commands of the user', () => {
  it('run like built-in ones', async () => {
    const own: Command[] = [
      { id: 'mine', summary: 'mine', run: async (_input, io) => Number(io.out.write('mine\n')) + 41 },
    ]
    const { code, out } = await guard(['mine'], { own })
    assert.equal(code, 42)
    assert.equal(out, 'mine\n')
  })
  it('cannot be looked for in a configuration that is broken, and that is said', async () => {
    const { code, err } = await guard(['mine'], {
      own: [],
      configError: new GuardError('INVALID_CONFIG', 'line 3 is wrong'),
    })
    assert.equal(code, 78)
    assert.match(err, /line 3 is wrong/)
  })
})

describe('a wrong command line', () => {
  it('ends with 2 and names the nearest', async () => {
    const { code, out, err } = await guard(['explian'])
    assert.equal(code, 2)
    assert.equal(out, '')
    assert.equal(
      err,
      'error: Unknown command "explian". Did you mean "explain"? Run "guard --help" for what there is.\n',
    )
  })
  it('is one object with --json', async () => {
    const { err } = await guard(['explian', '--json'])
    assert.deepEqual(JSON.parse(err).error.code, 'USAGE')
  })
})

describe('an error', () => {
  it('is one line with its code, and its exit code says of what kind it is', async () => {
    const { code, err } = await after(new GuardError('PORT_TAKEN', 'Port 1 is taken.'))
    assert.equal(code, 69)
    assert.equal(err, 'error: Port 1 is taken. (PORT_TAKEN)\n')
    for (const [name, exit] of [
      ['INVALID_CONFIG', 78],
      [httpErrors.HOST_NOT_LOOPBACK, 78],
      [databaseErrors.DATABASE_LOCKED, 69],
      ['STORAGE_UNAVAILABLE', 69],
      ['PARSER_UNAVAILABLE', 69],
      ['CONFIG_EXISTS', 1],
      ['USAGE', 2],
    ] as const) {
      const error = new GuardError(name)
      assert.equal((await after(error)).code, exit, error.code)
    }
  })
  it('of the program says what, one line of it, and where in the code', async () => {
    const plain = await after(new TypeError('no such thing\n    at secret.ts:1'))
    assert.equal(plain.code, 1)
    assert.match(
      plain.err,
      /^error: The gateway failed: no such thing\. This is a fault of Guard Gateway: report it with these lines\. \(INTERNAL\)\n {4}at \S.*run\.test\.ts:\d+/,
    )
    assert.doesNotMatch(plain.err, /secret\.ts/)
    assert.match((await after(new TypeError('no such thing'), ['--verbose'])).err, /\n {4}at /)
  })
  it('is one object with --json', async () => {
    const { err } = await after(
      new GuardError('INVALID_CONFIG', 'The key x is unknown.', { path: 'x', line: 3, column: 4 }),
      ['--json'],
    )
    assert.deepEqual(JSON.parse(err), {
      error: {
        type: 'configuration_error',
        code: 'INVALID_CONFIG',
        message: 'The key x is unknown.',
        path: 'x',
        line: 3,
        column: 4,
        hint: 'Correct the named key.',
      },
    })
  })
  it('tells no credential and cannot steer the terminal', async () => {
    const { err } = await after(new Error(`key ${secret} \u001b[2Jgone`), ['--verbose'])
    assert.doesNotMatch(err, /guard_0123|\u001b/)
  })
  it('is red on a terminal that wants it', async () => {
    const red = '\u001b[31merror:'
    const error = new GuardError('PORT_TAKEN')
    assert.ok((await after(error, [], { tty: true })).err.startsWith(red))
    assert.ok((await after(error, [], { env: { FORCE_COLOR: '1' } })).err.startsWith(red))
    for (const env of [
      { NO_COLOR: '1' },
      { TERM: 'dumb' },
      { FORCE_COLOR: '0' },
      { FORCE_COLOR: 'false' },
      undefined,
    ]) {
      const setting = env === undefined ? {} : { tty: true, env }
      assert.ok((await after(error, [], setting)).err.startsWith('error:'))
    }
    assert.ok((await after(error, ['--no-color'], { tty: true })).err.startsWith('error:'))
  })
})
