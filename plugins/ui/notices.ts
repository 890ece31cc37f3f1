import type { Gateway } from 'guard-gateway/core'
import type { Html } from 'guard-gateway/lib/html'
import { formKind } from 'guard-gateway/lib/page'
import { queryOf } from './page-request.ts'

/** Notice of a page after a form. The text comes from the form or from stored data, never from the address. */
export const noticeOf = async (gateway: Gateway, url: string): Promise<Html | string | undefined> => {
  const query = queryOf(url)
  const code = query.get('notice')
  if (code === null) return undefined
  const form = [...gateway.registry(formKind)].find(({ notices }) => Object.hasOwn(notices, code))
  const about = query.get('about')
  const told = about === null ? undefined : await form?.tell?.(code, about, { url, now: gateway.clock.now() })
  return told ?? form?.notices[code]
}

/** Adds a notice code and its subject to `target`; a newer notice replaces an older one. */
export const withNotice = (target: string, code: string | undefined, about?: string): string => {
  const [rest = '', fragment] = target.split('#', 2)
  const [path = '', search = ''] = rest.split('?', 2)
  const query = new URLSearchParams(search)
  query.delete('notice')
  query.delete('about')
  if (code !== undefined) query.set('notice', code)
  if (code !== undefined && about !== undefined) query.set('about', about)
  const text = query.toString()
  return `${path}${text === '' ? '' : `?${text}`}${fragment === undefined ? '' : `#${fragment}`}`
}
