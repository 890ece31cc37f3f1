import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import { checkPort } from 'guard-gateway/plugins/http'
import type { ServiceOptions } from 'guard-gateway/plugins/service'
import { readLongYaml } from '#lib/yaml'
import { located } from './command-config.ts'
import { ownCommand } from './command-prefix.ts'
import { addressOf } from './config/address.ts'
import { referencesIn, services } from './config/environment.ts'
import { loadConfig } from './config.ts'

/** What a gateway looks for in its environment without being told. */
const USUAL = [
  'GUARD_MODEL_PRICING',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'https_proxy',
  'http_proxy',
  'all_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
]

/** How `guard service` reads configurations. */
export const serviceOptions = (): ServiceOptions => ({
  guard: ownCommand(),
  locate: (options, io) => located(options, io).file,
  async variables(file) {
    const text = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new GuardError(
        'INVALID_CONFIG',
        `${file} cannot be read. Go to the folder of your configuration, name it with --config, or write one with "guard gateway run".`,
        { cause },
      )
    })
    const { value } = await readLongYaml(import.meta.resolve('yaml'), text, { short_chars: SHORT_CHARS })
    const hasUpstreams = Array.isArray((value as { readonly upstreams?: unknown } | null)?.upstreams)
    return {
      named: referencesIn(value),
      usual: [...(hasUpstreams ? [] : services.map(({ variable }) => variable)), ...USUAL],
    }
  },
  async read(file, env) {
    const { config, warnings, environmentErrors, refuse } = await loadConfig(file, env)
    refuse(environmentErrors)
    const { backend, file: database } = config.storage
    return {
      address: addressOf(config),
      data: backend === 'sqlite' ? dirname(database) : null,
      shared: backend === 'postgres',
      shutdown_grace_seconds: config.server.shutdown_grace_seconds,
      warnings,
    }
  },
  async checkPort(address) {
    const { hostname, port, protocol } = new URL(address)
    await checkPort(hostname.replace(/^\[|\]$/g, ''), Number(port || (protocol === 'https:' ? 443 : 80)))
  },
  async trust(file, env) {
    const { config } = await loadConfig(file, env)
    if (config.server.tls.cert !== '') await (await import('./own-certificate.ts')).trustOwnCertificate(config.server)
  },
})

/** A larger file is read in a process of its own. */
const SHORT_CHARS = 16_384
