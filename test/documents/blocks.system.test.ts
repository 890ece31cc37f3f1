import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { commandKind } from '#lib/command'
import { readOptions } from '../../bench/options.ts'
import { branch } from '../../examples/custom-check.ts'
import { codeNames } from '../../examples/custom-result-check.ts'
import { globalFlags, ownFlags } from '../../plugins/cli/flags.ts'
import { commandIn, parse } from '../../plugins/cli/parse.ts'
import { withCommands } from '../../presets/default/commands.ts'
import { type Started, startGateway } from '../kit/gateway.ts'
import { fakeIo } from '../kit/io.ts'
import { claims, notRun } from './claims.ts'
import { type Block, blocksOf, documents, proseOf, read, root } from './documents.ts'
import { commandsOf, guardWords } from './shell.ts'
import { validators } from './validators.ts'

let gateway: Started
let commands: Gateway
before(async () => {
  gateway = await startGateway({ plugins: [branch, codeNames] })
  commands = await withCommands(fakeIo())
})
after(() => gateway.close())

const where = ({ file, line }: Block): string => `${file}:${line}`
const blocks = documents.flatMap((file) => blocksOf(file))
const scripts = (JSON.parse(read('package.json')) as { readonly scripts: object }).scripts

/** Commands of plugins that guides write. */
const OF_GUIDES: ReadonlySet<string> = new Set(['models', 'waiting'])

const list = () => [...commands.registry(commandKind)]

/** Throws for a `guard` command that is none, and for flags that it does not take. */
const checkGuard = (words: readonly string[]): void => {
  if (OF_GUIDES.has(words[0] ?? '')) return
  const parsed = parse(list(), words)
  assert.ok(parsed.kind === 'run' || parsed.kind === 'help' || parsed.kind === 'version', JSON.stringify(parsed))
}

/** Throws for a program with arguments that are not so: of Guard, of npm, or a request for a route that is not there. */
const checkCommand = async (words: readonly string[]): Promise<void> => {
  const guard = guardWords(words)
  if (guard !== undefined) checkGuard(guard)
  else if (words[0] === 'npm' && words[1] === 'run') checkScript(words.slice(2))
  else if (words[0] === 'curl') await checkRoute(words)
}

const checkScript = ([name = '', ...args]: readonly string[]): void => {
  assert.ok(name in scripts, name)
  if (name === 'bench') readOptions(args.slice(1), {})
}

const checkRoute = async (words: readonly string[]): Promise<void> => {
  const address = words.find((word) => /^https?:/.test(word))
  assert.ok(address !== undefined, words.join(' '))
  const { status } = await gateway.request('OPTIONS', new URL(address).pathname)
  assert.notEqual(status, 404, address)
}

/** What went wrong, with where it stands. */
const naming = (block: Block, work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => {
    throw new Error(`${where(block)}: ${String(error)}`)
  })

describe('every block of every document', () => {
  it('that names a language is run by a test of its own, or validated here', () => {
    for (const block of blocks) {
      const { file, language } = block
      const own = claims[file]?.[language]
      if (own === undefined) {
        assert.ok(
          language in validators || (language === 'sh' && file in notRun),
          `${where(block)}: nobody runs this ${language} block; name its test in test/documents/claims.ts`,
        )
        continue
      }
      assert.ok(existsSync(join(root, own)), own)
      const names = [`'${file}'`, `/${file}'`, `${file.split('/').at(-1)}'`]
      assert.ok(
        names.some((name) => read(own).includes(name)),
        `${own} does not follow ${file}`,
      )
    }
  })
  it('has no claim for what is not there', () => {
    const there = new Set(blocks.map(({ file, language }) => `${file} ${language}`))
    const claimed = Object.entries(claims).flatMap(([file, languages]) =>
      Object.keys(languages).map((language) => `${file} ${language}`),
    )
    for (const name of [...claimed, ...Object.keys(notRun).map((file) => `${file} sh`)])
      assert.ok(there.has(name), name)
  })
  for (const [language, validate] of Object.entries(validators))
    it(`in ${language || 'no language'} holds`, async () => {
      for (const block of blocks.filter(
        (one) => one.language === language && claims[one.file]?.[language] === undefined,
      ))
        await naming(block, validate(block, gateway))
    })
  it('of the shell starts programs that are there, as they are called', async () => {
    for (const block of blocks.filter(({ language }) => language === 'sh'))
      for (const words of commandsOf(block.text)) await naming(block, checkCommand(words))
  })
})

/** Throws for a command in a text that is none, and for flags that it does not take; `guard policy …` stands for all of that word. */
const checkNamed = (text: string): void => {
  const words = text.split(/\s+/)
  if (OF_GUIDES.has(words[0] ?? '')) return
  const { command } = commandIn(words, list())
  const isGroup = list().some(({ id }) => id.startsWith(`${words[0]} `)) && /^(?:…)?$/.test(words[1] ?? '')
  assert.ok(command !== undefined || isGroup, `guard ${text}`)
  const known = Object.keys({ ...(command === undefined ? {} : ownFlags(command)), ...globalFlags })
  const spellings = new Set(known.flatMap((flag) => flag.split(/[ ,]+/)))
  const end = words.includes('--') ? words.indexOf('--') : words.length
  for (const flag of words.slice(0, end).filter((word) => word.startsWith('--')))
    assert.ok(spellings.has(flag), `guard ${text} has no ${flag}`)
}

describe('every command that a text names', () => {
  it('is there, with its flags', () => {
    for (const file of documents)
      for (const [, text = ''] of proseOf(file).matchAll(/`(?:npx |npm run )?guard (?:-- )?([a-z][^`]*)`/g))
        assert.doesNotThrow(() => checkNamed(text), file)
  })
})
