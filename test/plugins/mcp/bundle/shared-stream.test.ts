import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Member } from '../../../../plugins/mcp/bundle/member.ts'
import { SharedStream } from '../../../../plugins/mcp/bundle/shared-stream.ts'

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}

/** A member that says some things and then waits until it is stopped. */
const member = (id: string, says: readonly string[]) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const seen = { stopped: 0, left: 0, after: undefined as string | undefined }
  async function* events() {
    yield* says
    await promise
  }
  const stop = (): void => {
    seen.stopped++
    resolve()
  }
  const listen = async (after: string | undefined) => {
    seen.after = after
    return { form: 'sse', events: events(), stop }
  }
  const session = { use: () => () => void seen.left++, ended: false }
  return { seen, end: resolve, given: { id, running: { session, clientRelay: { listen } } } as unknown as Member }
}

const shared = (after: Readonly<Record<string, string>> = {}) => {
  const over: unknown[] = []
  const toClient = { take: (from: Member, out: string) => (out === 'hidden' ? undefined : `${from.id}:${out}`) }
  const stream = new SharedStream(toClient as never, {} as never, after, (one) => over.push(one))
  const { answer } = stream
  assert.equal(answer.form, 'sse')
  return { stream, over, events: (answer as unknown as { events: AsyncIterable<string> }).events }
}

describe('the stream of several members', () => {
  it('gives what each says, but what is not for the client, each from where the client left', async () => {
    const { stream, events } = shared({ b: '7' })
    const [a, b] = [member('a', ['one', 'hidden', 'two']), member('b', ['three'])]
    for (const { given } of [a, b]) await stream.add(given)
    const got: string[] = []
    for await (const event of events) {
      got.push(event)
      if (got.length === 3) break
    }
    assert.deepEqual(got.toSorted(), ['a:one', 'a:two', 'b:three'])
    assert.deepEqual([a.seen.after, b.seen.after], [undefined, '7'])
  })
  it('ends its members when its reader leaves, and lets go of them', async () => {
    const { stream, events } = shared()
    const one = member('a', ['one'])
    await stream.add(one.given)
    for await (const _event of events) break
    await turns()
    assert.equal(one.seen.stopped, 1)
    const late = member('late', [])
    await stream.add(late.given)
    await turns()
    assert.deepEqual([late.seen.stopped, late.seen.left], [1, 0])
  })
  it('is over when it is stopped, or when its only member ends by itself', async () => {
    const { stream, over } = shared()
    stream.stop()
    assert.deepEqual(over, [stream])
    const other = shared()
    const only = member('only', [])
    await other.stream.add(only.given)
    only.end()
    await turns()
    assert.deepEqual([other.over.length, only.seen.left], [1, 1])
  })
  it('listens again after a second to a member that ends beside others', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] })
    const { stream, over } = shared()
    const [brief, other] = [member('brief', []), member('other', [])]
    for (const { given } of [brief, other]) await stream.add(given)
    brief.end()
    await turns()
    brief.seen.after = 'not asked'
    test.mock.timers.tick(999)
    await turns()
    assert.equal(brief.seen.after, 'not asked')
    test.mock.timers.tick(1)
    await turns()
    assert.deepEqual([brief.seen.after, over], [undefined, []])
  })
})
