import { type Gateway, handle } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import type { Bench } from 'tinybench'
import { RequestReader } from '#lib/request-reader'
import { openGateway } from '../kit/gateway.ts'
import { bodyOf, callOf, conversationOf, type Measured, NOON, STAMP, silentClient, stamp, timesAsync } from '../kit.ts'

const REQUESTS_A_SESSION = 40

/** The cost of a request from its bytes to its record, without HTTP and with storage in memory. */
export const register = (bench: Bench): void => {
  for (const kib of [1, 32]) {
    let gateway: Gateway | undefined
    let task: () => Promise<Measured> = () => Promise.reject(new Error('the gateway is not open'))
    const conversation = conversationOf('chat_completions', kib)
    const body = bodyOf(conversation, conversation.ends.length)
    let number = 0
    bench.add(`pipeline: a request never seen, ${kib} KB`, () => task(), {
      async: true,
      async beforeAll() {
        const open = await openGateway(memory())
        const reader = new RequestReader()
        gateway = open
        task = timesAsync(50, () => {
          const session = `bench ${Math.floor(number / REQUESTS_A_SESSION)}`
          stamp(body, conversation.stamps, String(number++).padStart(STAMP, '0'))
          return handle(open, callOf(chatCompletions, body, session, NOON, reader), silentClient)
        })
      },
      async afterAll() {
        await gateway?.close()
      },
    })
  }
}
