import type { TestContext } from 'node:test'
import { Gateway, type Notice, type Plugin } from 'guard-gateway/core'
import { type NotifyOptions, notify } from 'guard-gateway/plugins/notify'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { type FakeClock, fakeClock, foundation } from 'guard-gateway/test'
import { type Notification, type NotifyResult, notifier } from '#lib/notifier'

/** A notifier that keeps what it is given, and does as it is told. */
export class KeptNotifier {
  readonly sent: Notification[] = []
  readonly plugin: Plugin
  /** What the next attempts come to, one after another; behind them all is delivered. */
  readonly results: (NotifyResult | Error | Promise<NotifyResult>)[] = []

  constructor(id = 'kept') {
    this.plugin = notifier({
      id,
      schema: { type: 'object', additionalProperties: false },
      connect: () => ({
        label: `${id} of the test`,
        send: async (notification) => {
          this.sent.push(notification)
          const result = this.results.shift()
          if (result instanceof Error) throw result
          return result ?? { outcome: 'delivered' }
        },
      }),
    })
  }

  get texts(): readonly string[] {
    return this.sent.map(({ text }) => text)
  }
}

/** Lets everything that is ready to run, run. */
export const rested = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
}

/** A gateway that tells a kept notifier, while its time is told, too. */
export interface Told {
  readonly gateway: Gateway
  readonly kept: KeptNotifier
  readonly clock: FakeClock
  readonly faults: string[]
  tell(more?: Partial<Notice>): void
  /** Lets time pass, and what is due then happen. */
  pass(ms: number): Promise<void>
}

export const aNotice = (more: Partial<Notice> = {}): Notice => ({
  event: 'blocked',
  subject: 'ses_1',
  text: 'A request was blocked.',
  path: '/sessions/ses_1',
  project_id: 'shop',
  ...more,
})

export const startNotify = async (
  test: TestContext,
  options: NotifyOptions = {},
  plugins: readonly Plugin[] = [],
): Promise<Told> => {
  test.mock.timers.enable({ apis: ['setTimeout'] })
  const kept = new KeptNotifier()
  const clock = fakeClock()
  const faults: string[] = []
  const gateway = new Gateway({ clock }).use(
    ...foundation({ store: { backend: 'memory' } }),
    memory(),
    kept.plugin,
    ...plugins,
    notify({ receivers: { team: { notifier: 'kept' } }, base_url: 'https://guard.example/', ...options }),
  )
  gateway.hooks.fault.tap('test', (error, where) => faults.push(`${where}: ${(error as Error).message}`))
  await gateway.open()
  test.after(() => {
    test.mock.timers.reset()
    return gateway.close()
  })
  return {
    gateway,
    kept,
    clock,
    faults,
    tell: (more) => gateway.hooks.notice.call(aNotice(more)),
    pass: async (ms) => {
      clock.advance(ms)
      test.mock.timers.tick(ms)
      await rested()
    },
  }
}
