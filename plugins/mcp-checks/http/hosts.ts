import { GuardError } from 'guard-gateway/core'

const ENTRY = /^(\*\.)?([^*\s/@:?#\\%]+|\[[0-9a-f:.]+\])$/i

/** Normalises a `hosts` entry of a policy for the comparison with hosts of URLs. */
export const hostEntry = (entry: string): string => {
  if (entry === '*') return entry
  const bracketed = /^[0-9a-f:.]*$/i.test(entry) && entry.split(':').length > 2 ? `[${entry}]` : entry
  const [, wildcard = '', name = ''] = ENTRY.exec(bracketed) ?? []
  const host = name === '' ? undefined : URL.parse(`http://${name}/`)?.hostname
  if (host === undefined || host === '' || host.endsWith('.'))
    throw new GuardError(
      'INVALID_POLICY',
      `"${entry}" is no host; write a name such as api.example.com, *.example.com or *, without scheme, port and path.`,
      { path: 'hosts' },
    )
  return wildcard + host
}

/** True if an entry matches the host: exactly, as `*.suffix`, or as `*`, which matches any name with a dot. */
export const isListed = (host: string, entries: readonly string[]): boolean =>
  entries.some((entry) => {
    if (entry === '*') return host.includes('.') || host.startsWith('[')
    return entry.startsWith('*.') ? host.length > entry.length - 1 && host.endsWith(entry.slice(1)) : host === entry
  })
