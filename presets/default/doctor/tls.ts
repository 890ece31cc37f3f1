import { checkTls } from 'guard-gateway/plugins/http'
import { type Check, error, ok, reason, warning } from './check.ts'

const SOON_MS = 14 * 86_400_000

/** Checks that certificate and key can be served, and for how long. */
export const tls: Check = async ({ config }) => {
  if (config === undefined || config.server.tls.cert === '') return []
  try {
    const { names, valid_until } = await checkTls(config.server.tls)
    const date = new Date(valid_until).toISOString().slice(0, 10)
    const left = valid_until - Date.now()
    if (left <= 0) return [error(`the certificate for ${names} expired on ${date}`, RENEW)]
    if (left < SOON_MS) return [warning(`the certificate for ${names} expires on ${date}`, RENEW)]
    return [ok(`TLS for ${names}, until ${date}`)]
  } catch (thrown) {
    return [error(reason(thrown), 'Correct server.tls, or the file that it names.')]
  }
}

const RENEW = 'Renew the files that server.tls names: the gateway reads them again by itself.'
