import { type Gateway, type Plugin, stages } from 'guard-gateway/core'
import { Notify } from './notify.ts'
import type { NotifyOptions } from './options.ts'
import { BudgetWatch } from './sources/budgets.ts'
import { tellOfCalls } from './sources/calls.ts'
import { tellOfStorage } from './sources/storage.ts'
import { tellOfUpstreams } from './sources/upstreams.ts'

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
