import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { main } from '../../presets/default/main.ts'
import { type Started, startGateway } from '../kit/gateway.ts'
import { fakeIo } from '../kit/io.ts'
import { FakeProvider } from '../kit/provider.ts'
import { blocksOf, root } from './documents.ts'
import { guardWords } from './shell.ts'

export const run = promisify(execFile)

/** Where documents are followed: a gateway, with a provider behind it unless told otherwise, and a folder with its configuration. */
export class Reader {
  readonly gateway: Started
  readonly folder: string
  readonly #provider: FakeProvider | undefined

  constructor(gateway: Started, folder: string, provider?: FakeProvider) {
    this.gateway = gateway
    this.folder = folder
    this.#provider = provider
  }

  /** `keyed`: the reader has a provider's key. */
  static async start({ keyed = true } = {}): Promise<Reader> {
    const provider = keyed ? await new FakeProvider().listen() : undefined
    const gateway = await startGateway(provider === undefined ? {} : { upstream: provider.url })
    const folder = await mkdtemp(join(tmpdir(), 'guard-reader-'))
    const { port } = new URL(gateway.url)
    const config = `gateway_key: ${gateway.key} # the key\nserver: { port: ${port} }\n`
    await writeFile(join(folder, 'guard-config.yml'), config)
    return new Reader(gateway, folder, provider)
  }

  env(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
    return {
      ...process.env,
      GUARD_CONFIG: join(this.folder, 'guard-config.yml'),
      GUARD_GATEWAY_KEY: this.gateway.key,
      HOME: this.folder,
      ...more,
    }
  }

  async close(): Promise<void> {
    await this.gateway.close()
    await this.#provider?.close()
    await rm(this.folder, { recursive: true })
  }
}

/** A document whose blocks are run one after another, each as it stands but for the address and the folder. */
export class Followed {
  readonly file: string
  readonly #reader: () => Reader
  readonly #seen = new Set<string>()

  constructor(file: string, reader: () => Reader) {
    this.file = file
    this.#reader = reader
  }

  /** The one block that holds a text. */
  block(language: string, part: string): string {
    const found = blocksOf(this.file).filter((block) => block.language === language && block.text.includes(part))
    assert.equal(found.length, 1, `${this.file} has ${found.length} ${language} blocks with ${part}`)
    const [{ text } = { text: '' }] = found
    this.#seen.add(text)
    return text
  }

  here(text: string): string {
    return text.replaceAll('http://127.0.0.1:8787', this.#reader().gateway.url)
  }

  /** What a shell block prints. */
  async shell(part: string, { cwd = this.#reader().folder, after = '' } = {}): Promise<string> {
    const text = this.here(this.block('sh', part)) + after
    return (
      await run('bash', ['-euc', text], { cwd, env: this.#reader().env({ GUARD_URL: this.#reader().gateway.url }) })
    ).stdout
  }

  /** A block that starts commands of Guard: each ends well, and all together say this. */
  async says(part: string, answer: RegExp): Promise<void> {
    const io = fakeIo({ cwd: root, env: this.#reader().env() })
    for (const line of this.block('sh', part).trim().split('\n')) {
      const words = guardWords(line.split(' '))
      assert.ok(words !== undefined, line)
      assert.equal(await main(words, io), 0, io.errText())
    }
    assert.match(io.outText() + io.errText(), answer)
  }

  /** What a program prints that stands in `examples`, too. */
  async program(part: string, example: string): Promise<string> {
    const text = this.block('ts', part)
    assert.equal(
      await readFile(join(root, 'examples', example), 'utf8'),
      text,
      `${this.file} and examples/${example} differ`,
    )
    const script = join(root, 'test', `.document-${process.pid}-${example}`)
    await writeFile(script, this.here(text))
    try {
      return (await run(process.execPath, [script], { env: this.#reader().env() })).stdout
    } finally {
      await rm(script)
    }
  }

  /** Fails for a block that none of these has run; `elsewhere`: languages that are validated wherever they stand. */
  nothingLeft(elsewhere: readonly string[] = ['yaml']): void {
    for (const { line, language, text } of blocksOf(this.file))
      assert.ok(this.#seen.has(text) || elsewhere.includes(language), `${this.file}:${line} is not run:\n${text}`)
  }
}
