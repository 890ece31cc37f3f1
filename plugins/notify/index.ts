import { type Attempt, type Gateway, type Plugin, stages } from 'guard-gateway/core'
import { Notify } from './notify.ts'
import type { NotifyOptions } from './options.ts'
import { BudgetWatch } from './sources/budgets.ts'
import { tellOfCalls } from './sources/calls.ts'
import { tellOfStorage } from './sources/storage.ts'

export { notifyCommands } from './commands.ts'
export { knownEvents, type NotifyOptions, type ReceiverOptions, type RuleOptions } from './options.ts'

/** Tells people of what happens, wherever they are: each notice goes to the receivers that rules name, never on the way of a request. */
export const notify = (options: NotifyOptions = {}): Plugin => ({
  name: 'notify',
  apply(gateway: Gateway) {
    const notifier = new Notify(gateway, options)
    const budgets = new BudgetWatch(gateway)
    let watched = (): void => {}
    gateway.hooks.open.tap('notify', ({ beside }) => {
      // a command that looks things up has nothing to tell
      if (beside) return
      gateway.hooks.notice.tap('notify', notifier.take)
      // one that cannot be used stops the start
      if (notifier.deliveries.size > 0) gateway.health.set('notify', () => notifier.health())
      tellOfCalls(gateway)
      tellOfUpstreams(gateway)
      budgets.begin()
      watched = tellOfStorage(gateway)
    })
    gateway.hooks.listen.tap('notify', (url) => notifier.listens(url))
    gateway.hooks.http.tapPromise('notify', async (app) => {
      const [{ notifyRoutes }, { addPages }] = await Promise.all([import('./routes.ts'), import('./page/index.ts')])
      await app.register(notifyRoutes(notifier), { prefix: '/api' })
      addPages(gateway, notifier)
    })
    gateway.hooks.close.tapPromise({ name: 'notify', stage: stages.close.push }, () => {
      watched()
      budgets.end()
      return notifier.end()
    })
  },
})

/** Failed requests in a row after which an upstream counts as failing. */
const FAILING = 3

/** Tells of an upstream that fails again and again, once until it works. */
const tellOfUpstreams = (gateway: Gateway): void => {
  const failures = new Map<string, number>()
  gateway.hooks.settle.tap('notify', ({ attempts }) => {
    for (const attempt of attempts) {
      if (attempt.error === 'CLIENT_GONE') continue
      const { upstream } = attempt
      if (!hasFailed(attempt)) {
        failures.delete(upstream)
        continue
      }
      const count = (failures.get(upstream) ?? 0) + 1
      failures.set(upstream, count)
      if (count === FAILING) gateway.hooks.notice.call(noticeOf(attempt))
    }
  })
}

/** A request that the upstream refuses is no failure of it. */
const hasFailed = ({ status }: Attempt): boolean => status === null || status >= 500

const noticeOf = ({ upstream, status, error }: Attempt) => ({
  event: 'upstream_failing',
  subject: upstream,
  text: `Upstream "${upstream}" has failed ${FAILING} times in a row, the last time with ${status ?? error ?? 'no answer'}.`,
  path: '/',
})
