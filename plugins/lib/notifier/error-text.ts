import { connectionFault } from 'guard-gateway/lib/network'

/** Why an attempt got no answer, in words. */
export const errorText = (error: unknown): string => {
  const { what, fix } = connectionFault(error as NodeJS.ErrnoException)
  return `It could not be asked: ${what}.${fix === undefined ? '' : ` ${fix}`}`
}
