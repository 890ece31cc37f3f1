import { isIP } from 'node:net'

/** The host name or address is a loopback one. */
export const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (isIP(bare) === 4) return bare.startsWith('127.')
  return bare === 'localhost' || bare === '::1' || bare === '0:0:0:0:0:0:0:1'
}
