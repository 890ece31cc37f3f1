import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createGateway } from 'guard-gateway'
import { emptyConfig } from '../../presets/default/config/defaults.ts'
import { type ChildGateway, startChildGateway } from '../kit/child-gateway.ts'
import { dialects } from '../kit/dialogue.ts'
import { type FakeProvider, fakeProvider } from '../kit/provider.ts'
import { parsed, untilClosed } from '../kit/raw-http.ts'
import { replyFor } from '../kit/replies.ts'
import { diceOf, mutated } from './mutations.ts'
import { type Sample, samples } from './samples.ts'

/** By hand: another seed, and as long as one likes. */
const SEED = Number(process.env.GUARD_FUZZ_SEED ?? 20_261_121)
/** What the three runs may take together. */
const BUDGET_MS = Number(process.env.GUARD_FUZZ_MS ?? 1_000)
const LEAST = 20
const PATIENCE_MS = 60_000

describe('damaged input', () => {
  let folder: string
  let provider: FakeProvider
  let gateway: ChildGateway
  let codes: readonly string[]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-fuzz-'))
    const { errorCodes, detectors } = await createGateway(emptyConfig())
    codes = [...errorCodes.ids(), ...[...detectors].map(({ code }) => code)]
    provider = await fakeProvider()
    gateway = await startChildGateway(folder, provider.url)
  })
  after(async () => {
    const [code] = await gateway.end('SIGTERM')
    await provider[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
    assert.equal(code, 0, gateway.said())
  })

  const send = (sample: Sample, body: Buffer): Promise<Response> =>
    fetch(gateway.url + sample.path, {
      method: sample.method,
      headers: {
        'x-api-key': gateway.key,
        'content-type': sample.type,
        'x-guard-session-id': 'fuzz',
        'x-guard-project-id': 'fuzz',
      },
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })

  /** An answer is a success, or an error of the catalogue in the form of its path. */
  const wellFormed = (status: number, text: string, path: string): void => {
    assert.ok(!text.includes(gateway.key), 'the key is in the answer')
    assert.ok(status >= 200 && status < 500, `status ${status}: ${text.slice(0, 300)}`)
    if (status < 400) return
    const json = JSON.parse(text) as { error?: { type: string; code: string; message: string }; message?: string }
    if (path === '/v1/traces') return void assert.equal(typeof json.message, 'string')
    assert.ok(json.error !== undefined && codes.includes(json.error.code), text.slice(0, 300))
    assert.equal(typeof json.error.type, 'string')
    assert.ok(json.error.message.length > 0)
  }

  /** Runs a step with numbers from 0 for its share of the time, and LEAST of them on any machine; each failure names what brings it back. */
  const during = async (share: number, step: (number: number) => Promise<void>): Promise<void> => {
    const end = performance.now() + BUDGET_MS * share
    for (let number = 0; number < LEAST || performance.now() < end; number++) {
      await step(number).catch((error: unknown) => {
        throw new Error(`input ${number} of seed ${SEED}: ${String(error)}`, { cause: error })
      })
    }
  }

  const serves = async (): Promise<void> => {
    const health = await fetch(`${gateway.url}/api/health`, { signal: AbortSignal.timeout(PATIENCE_MS) })
    assert.equal(((await health.json()) as { status: string }).status, 'ok')
    for (const { style, path, body } of dialects) {
      const expected = replyFor(path, false)
      const answer = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', 'x-guard-project-id': 'calm' },
        body: JSON.stringify(body([{ user: `still there? ${style} ${performance.now()}` }])),
      })
      assert.deepEqual([answer.status, await answer.text()], [200, String(expected.body)])
    }
  }

  it('in a body of any route gets an answer of that route, and the next request is served', async () => {
    for (const sample of samples) {
      const answer = await send(sample, sample.body)
      const text = await answer.text()
      assert.ok(answer.status < 300, `${sample.path} does not take its sample: ${text}`)
    }
    const dice = diceOf(SEED)
    const bodies = samples.map(({ body }) => body)
    await during(0.6, async () => {
      const sample = dice.pick(samples)
      const { bytes, by } = mutated(sample.body, bodies, dice)
      const answer = await send(sample, bytes)
      try {
        wellFormed(answer.status, await answer.text(), sample.path)
      } catch (error) {
        throw new Error(`${sample.method} ${sample.path} after ${by}: ${String(error)}`, { cause: error })
      }
    })
    await serves()
  })

  it('in place of a request gets an answer or a closed connection', async () => {
    const dice = diceOf(SEED + 1)
    const port = Number(new URL(gateway.url).port)
    const whole = samples.map(({ method, path, type, body }) =>
      Buffer.concat([
        Buffer.from(
          `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${gateway.key}\r\ncontent-type: ${type}\r\nx-guard-project-id: fuzz\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`,
        ),
        body,
      ]),
    )
    await during(0.2, async () => {
      const { bytes, by } = mutated(dice.pick(whole), whole, dice)
      const socket = connect(port, '127.0.0.1')
      let late = false
      socket.setTimeout(PATIENCE_MS, () => {
        late = true
        socket.destroy()
      })
      socket.end(bytes)
      const { status, body } = parsed(await untilClosed(socket))
      assert.ok(!late, `${by}: nothing came`)
      // requests within a request may be more imports at once than are taken
      const isBusy = status === 503 && body.includes('"OVERLOADED"')
      assert.ok(
        status === 0 || (status >= 200 && status < 500) || isBusy,
        `${by}: status ${status}: ${body.slice(0, 300)}`,
      )
    })
    await serves()
  })

  it('in a reply of a provider passes as it came', async () => {
    const dice = diceOf(SEED + 2)
    const replies = dialects.flatMap(({ path }) =>
      [false, true].map((stream) => Buffer.from(replyFor(path, stream).body)),
    )
    await during(0.2, async (number) => {
      const dialect = dice.pick(dialects)
      const stream = dice.below(2) === 1
      const { bytes, by } = mutated(Buffer.from(replyFor(dialect.path, stream).body), replies, dice)
      provider.script({ body: bytes, headers: { 'content-type': stream ? 'text/event-stream' : 'application/json' } })
      const answer = await fetch(gateway.url + dialect.path, {
        method: 'POST',
        headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', 'x-guard-session-id': `r${number}` },
        body: JSON.stringify(dialect.body([{ user: 'hello' }], { stream })),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      const got = Buffer.from(await answer.arrayBuffer())
      assert.deepEqual([answer.status, got.equals(bytes)], [200, true], by)
    })
    await serves()
  })
})
