import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { modules, type PackedPackage } from './packed-package.ts'

const consumer = `
import { Gateway, detector, type Plugin } from 'guard-gateway/core'
import { createGateway, defaultPreset, type Config } from 'guard-gateway'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { asFastifyPlugin } from 'guard-gateway/plugins/http'
import * as mcp from 'guard-gateway/plugins/mcp'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { Type } from 'guard-gateway/lib/json'
import { configurable } from 'guard-gateway/lib/plugin-options'
import { createGuard } from 'guard-gateway/sdk'
import { startService, detectorConforms, evidence } from 'guard-gateway/test'

const mine = detector({ id: 'mine', kind: 'loop', code: 'LOOP_EXACT', version: '1', defaults: { threshold: 1, window_size: 1 }, detect: () => undefined })
export const plugins = (config: Config): readonly Plugin[] => [...defaultPreset(config), mine]
export const small: Gateway = new Gateway().use(memory(), exactRepeat)
export const kit = [startService, detectorConforms, evidence, createGateway, createGuard, asFastifyPlugin, mcp]
export const page = configurable(Type.Object({ path: Type.String() }), ({ path }) => ({
  name: path.toUpperCase(),
  apply({ hooks }) {
    hooks.http.tap('page', (app) => {
      app.get(path, (request, reply) => reply.send(request.url.length.toFixed()))
      // @ts-expect-error: the types of Fastify are there, also where Fastify is not installed
      app.get(3)
    })
  },
}))
// @ts-expect-error: a detector says which code it raises
detector({ id: 'broken', kind: 'loop', version: '1', defaults: { threshold: 1, window_size: 1 }, detect: () => undefined })
// @ts-expect-error: options are those of the schema
configurable(Type.Object({ path: Type.String() }), ({ pat }) => ({ name: pat, apply() {} }))
`

/** Settings of TypeScript under which people write programs. All are strict, and check the declarations of packages too. */
export const settings: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['Node 16', { module: 'node16', lib: ['es2022'] }],
  ['Node with required modules', { module: 'nodenext', lib: ['es2024'] }],
  ['a bundler', { module: 'preserve', moduleResolution: 'bundler', lib: ['es2022'] }],
]

/** Compiles an ES module and a CommonJS one that use the package, and more files of the project. Throws what the compiler says. */
export const compileConsumers = async (
  packed: PackedPackage,
  options: Readonly<Record<string, unknown>>,
  more: readonly string[] = [],
): Promise<void> => {
  const files = ['consumer.mts', 'consumer.cts']
  for (const file of files) await writeFile(join(packed.project, file), consumer)
  const compilerOptions = { target: 'es2022', strict: true, noEmit: true, types: ['node'], skipLibCheck: false }
  const config = { compilerOptions: { ...compilerOptions, ...options }, files: [...files, ...more] }
  await writeFile(join(packed.project, 'tsconfig.json'), JSON.stringify(config))
  const compiled = packed.node(join(modules, 'typescript/bin/tsc'), '-p', packed.project)
  await compiled.catch(({ stdout, message }: Error & { stdout?: string }) => {
    throw new Error(stdout ?? message)
  })
}
