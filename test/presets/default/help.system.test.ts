import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { commandKind } from '#lib/command'
import { parse } from '../../../plugins/cli/parse.ts'
import { withCommands } from '../../../presets/default/commands.ts'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'

const run = promisify(execFile)
const source = join(import.meta.dirname, '../../../presets/default')
const bin = join(source, 'bin.js')

const emptyFolder = async (context: TestContext) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-help-'))
  context.after(() => rm(cwd, { recursive: true, force: true }))
  return cwd
}

const guard = async (cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const { stdout } = await run(process.execPath, ['--conditions=guard-source', bin, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
  })
  return stdout
}

test('the help file matches the registered commands', async (context) => {
  const io = fakeIo({ cwd: await emptyFolder(context) })
  assert.equal(await main(['--help'], io), 0)
  assert.equal(
    await readFile(join(source, 'help.txt'), 'utf8'),
    io.outText(),
    'run: npm run -s guard -- --help --no-color > presets/default/help.txt',
  )
  const [commands = ''] = io.outText().split('\nOptions of every command\n')
  for (const line of commands.split('\n').filter((text) => text.startsWith('  ')))
    assert.match(
      line,
      /^ {2}(?:[a-z].{33}| {34}) \S|^ {2}[a-z].{34,}[\]>]$/,
      'what a command does stands below that of the others',
    )
})

/** The words of a command line as a shell takes them, without variables, redirections and what stands in front of `guard`. */
const wordsOf = (line: string): readonly string[] => {
  const typed = line.replace(/^.*?(?=\bguard\b)/, '').replace(/[)]?"?\s[<>|].*$|\)" .*$/, '')
  return [...typed.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/["']/g, '')).slice(1)
}

test('the help of every command fits its terminal, and its examples are command lines that can be run', async (context) => {
  const cwd = await emptyFolder(context)
  const commands = [...(await withCommands(fakeIo({ cwd }))).registry(commandKind)]
  assert.ok(commands.length > 40)
  const groups = new Set(commands.flatMap(({ id }) => (id.includes(' ') ? [id.split(' ', 1)] : [])))
  for (const words of [[], ...groups, ...commands.map(({ id }) => id.split(' '))])
    for (const columns of [80, 100, 56, 36]) {
      const io = fakeIo({ cwd, tty: true, columns })
      assert.equal(await main([...words, '--help'], io), 0)
      for (const line of io.outText().replaceAll(' \\\n', '\n').split('\n'))
        assert.ok(line.length <= columns || !/\S +\S/.test(line.trim()), `${words.join(' ')} at ${columns}: ${line}`)
    }
  for (const { id, example } of commands) {
    const examples = [example ?? []].flat()
    assert.ok(examples.length > 1, `${id} has several examples`)
    for (const line of examples.filter((text) => !/\bguard completion\b/.test(text))) {
      assert.ok(line.length <= 110, line)
      const parsed = parse(commands, wordsOf(line))
      assert.equal(parsed.kind, 'run', `${line}: ${JSON.stringify(parsed)}`)
    }
  }
})

test('help and version are printed before other modules load', async (context) => {
  const cwd = await emptyFolder(context)
  const text = await readFile(join(source, 'help.txt'), 'utf8')
  for (const args of [[], ['--help'], ['-h'], ['help']]) assert.equal(await guard(cwd, args), text)
  for (const word of ['--version', '-v', 'version']) {
    const io = fakeIo({ cwd })
    await main([word], io)
    assert.equal(await guard(cwd, [word]), io.outText())
  }
  assert.deepEqual(await readdir(cwd), [])
})

test('plugins of a configuration add their commands', async (context) => {
  const cwd = await emptyFolder(context)
  await writeFile(join(cwd, 'guard-config.yml'), 'gateway_key: key-of-this-test-0123\nplugins: [./own.ts]\n')
  await writeFile(
    join(cwd, 'own.ts'),
    `import { commandKind } from ${JSON.stringify(import.meta.resolve('guard-gateway/lib/command'))}
export const own = { name: 'own', apply: (gateway) => gateway.registry(commandKind).add({ id: 'dance', summary: 'dance a little', run: async () => 0 }) }`,
  )
  const { NODE_COMPILE_CACHE } = process.env
  assert.match(await guard(cwd, ['--help'], { NODE_COMPILE_CACHE }), /dance +dance a little/)
})

test('the compile cache is private to the user', async (context) => {
  const cwd = await emptyFolder(context)
  // loads least of what is not printed at once
  const words = ['mcp', 'run', '--help']
  await guard(cwd, words, { XDG_CACHE_HOME: join(cwd, 'cache') })
  assert.equal((await stat(join(cwd, 'cache/guard-gateway'))).mode & 0o777, 0o700)
  assert.notDeepEqual(await readdir(join(cwd, 'cache/guard-gateway')), [])
  await guard(cwd, words, { NODE_DISABLE_COMPILE_CACHE: '1', XDG_CACHE_HOME: join(cwd, 'none') })
  assert.deepEqual((await readdir(cwd)).sort(), ['cache'])
})
