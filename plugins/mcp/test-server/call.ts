import { setTimeout } from 'node:timers/promises'
import type { Exchange } from './exchange.ts'
import { Failure, type Message, said } from './message.ts'
import type { TestSession } from './session.ts'
import type { Running } from './tool.ts'

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

const progressToken = ({ params: { _meta } }: Message): unknown =>
  typeof _meta === 'object' && _meta !== null && 'progressToken' in _meta ? _meta.progressToken : undefined

/** What the tool of one call can do, in the session of the call. */
export const running = (session: TestSession, message: Message, exchange: Exchange, signal: AbortSignal): Running => {
  const token = progressToken(message)
  return {
    signal,
    wait: (ms) => setTimeout(ms, undefined, { signal }),
    log(level, data) {
      if (levels.indexOf(level) < levels.indexOf(session.level)) return
      exchange.send(said('notifications/message', { level, logger: 'test-server', data }), false)
    },
    progress(progress, total) {
      if (token === undefined) return
      exchange.send(said('notifications/progress', { progressToken: token, progress, total }), false)
    },
    ask(capability, method, params) {
      if (!session.can(capability)) throw new Failure(-32600, `The client does not have the capability ${capability}.`)
      return session.ask(method, params, exchange, signal)
    },
    letGo: () => exchange.release(),
  }
}

/** Checks the name of a level. Throws a Failure. */
export const levelOf = ({ params: { level } }: Message): string => {
  if (typeof level === 'string' && levels.includes(level)) return level
  throw new Failure(-32602, `The level is one of ${levels.join(', ')}.`)
}
