import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'

/** A static file whose address contains a hash of its content. */
export interface Asset {
  readonly name: string
  readonly url: string
  readonly type: string
  readonly bytes: Buffer
}

/** Name to source file. A style sheet precedes those it overrides. */
const sources: Readonly<Record<string, string>> = {
  'app.css': 'guard-gateway/assets/app.css',
  'bar.css': 'guard-gateway/assets/bar.css',
  'tables.css': 'guard-gateway/assets/tables.css',
  'controls.css': 'guard-gateway/assets/controls.css',
  'app.js': 'guard-gateway/assets/app.js',
  'keys.js': 'guard-gateway/assets/keys.js',
  'live.js': 'guard-gateway/assets/live.js',
  'hold.js': 'guard-gateway/assets/hold.js',
  'notify.js': 'guard-gateway/assets/notify.js',
  'settled.js': 'guard-gateway/assets/settled.js',
  'replay.css': 'guard-gateway/assets/replay.css',
  'kinds.css': 'guard-gateway/assets/kinds.css',
  'timeline.css': 'guard-gateway/assets/timeline.css',
  'charts.css': 'guard-gateway/assets/charts.css',
  'charts.js': 'guard-gateway/assets/charts.js',
  'run.css': 'guard-gateway/assets/run.css',
  'timeline.js': 'guard-gateway/assets/timeline.js',
  'timeline-row.js': 'guard-gateway/assets/timeline-row.js',
  'long-timeline.js': 'guard-gateway/assets/long-timeline.js',
  'request.js': 'guard-gateway/assets/request.js',
  'request-form.js': 'guard-gateway/assets/request-form.js',
  'request-command.js': 'guard-gateway/assets/request-command.js',
  'request-exchange.js': 'guard-gateway/assets/request-exchange.js',
  'request-send.js': 'guard-gateway/assets/request-send.js',
  'request.css': 'guard-gateway/assets/request.css',
  'forms.css': 'guard-gateway/assets/forms.css',
  'needs.css': 'guard-gateway/assets/needs.css',
  'print.css': 'guard-gateway/assets/print.css',
  'icon.svg': 'guard-gateway/assets/icon.svg',
  'icon-badge.svg': 'guard-gateway/assets/icon-badge.svg',
  'idiomorph.js': import.meta.resolve('idiomorph/dist/idiomorph.esm.js'),
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

const HASH_CHARS = 12
const A_YEAR = 31_536_000

/** Reads all assets. They share a folder named by their common hash, so that scripts import one another by relative names. */
export const loadAssets = async (): Promise<ReadonlyMap<string, Asset>> => {
  const files = await Promise.all(
    Object.entries(sources).map(
      async ([name, specifier]) => [name, await readFile(fileURLToPath(import.meta.resolve(specifier)))] as const,
    ),
  )
  const hash = createHash('sha256')
  for (const [name, bytes] of files) hash.update(name).update(bytes)
  const folder = hash.digest('hex').slice(0, HASH_CHARS)
  return new Map(
    files.map(([name, bytes]) => {
      const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
      return [name, { name, url: `/ui/assets/${folder}/${name}`, type, bytes }]
    }),
  )
}

/** Serves assets with a cache lifetime of one year. */
export const assetRoutes = (app: FastifyInstance, assets: ReadonlyMap<string, Asset>): void => {
  for (const { url, type, bytes } of assets.values()) {
    app.get(url, { schema: { hide: true } as object }, (_request, reply) =>
      reply.type(type).header('cache-control', `public, max-age=${A_YEAR}, immutable`).send(bytes),
    )
  }
}
