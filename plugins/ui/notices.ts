import type { Gateway } from 'guard-gateway/core'
import { queryOf } from './asked.ts'

/** The sentence that a page shows because a form led to it: from the forms' tables, never from the address itself. */
export const noticeOf = (gateway: Gateway, url: string): string | undefined => {
  const code = queryOf(url).get('notice')
  if (code === null) return undefined
  for (const { notices } of gateway.forms) if (Object.hasOwn(notices, code)) return notices[code]
  return undefined
}

/** `target` with a notice's code; of several there is the newest. */
export const withNotice = (target: string, code: string | undefined): string => {
  const [rest = '', fragment] = target.split('#', 2)
  const [path = '', search = ''] = rest.split('?', 2)
  const query = new URLSearchParams(search)
  query.delete('notice')
  if (code !== undefined) query.set('notice', code)
  const text = query.toString()
  return `${path}${text === '' ? '' : `?${text}`}${fragment === undefined ? '' : `#${fragment}`}`
}
