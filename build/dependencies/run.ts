import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPackageOfItsOwn } from '../externals.ts'
import { root } from '../project.ts'

interface Locked {
  readonly version: string
  readonly license?: string
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
}
interface Project {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const json = <T>(file: string): T => JSON.parse(readFileSync(join(root, file), 'utf8')) as T

interface Row {
  readonly name: string
  readonly reason: string
  readonly licence: string
  readonly scripts: boolean
  /** `package`: in the chunks; `installed`: beside the package; `repository`: not with users. */
  readonly where: 'package' | 'installed' | 'repository'
}

/** A direct dependency each. Throws for one without a reason, and for a reason without one. */
export const rowsOf = (
  { dependencies, devDependencies }: Project,
  packages: Readonly<Record<string, Locked>>,
  why: Readonly<Record<string, string>> = reasons,
): readonly Row[] => {
  const names = [...Object.keys(dependencies), ...Object.keys(devDependencies)].toSorted()
  const stale = Object.keys(why).filter((name) => !names.includes(name))
  if (stale.length > 0)
    throw new Error(`No dependency any more: ${stale.join(', ')}. Take it out of build/dependencies/reasons.ts.`)
  return names.map((name) => {
    const reason = why[name]
    if (reason === undefined)
      throw new Error(`${name} has no reason: say in build/dependencies/reasons.ts what it is for.`)
    const { license = 'none', hasInstallScript = false } = packages[`node_modules/${name}`] ?? {}
    const where = name in devDependencies ? 'repository' : isPackageOfItsOwn(name) ? 'installed' : 'package'
    return { name, reason, licence: license, scripts: hasInstallScript, where }
  })
}

const FREE = /^(MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|MIT OR Apache-2\.0)$/

/** Packages with a licence that neither is one of ours nor was allowed by name. */
export const refusedLicences = (packages: Readonly<Record<string, Locked>>): readonly string[] =>
  Object.entries(packages).flatMap(([path, { license = 'none' }]) => {
    const name = nameAt(path)
    return path === '' || FREE.test(license) || name in otherLicences ? [] : [`${name} (${license})`]
  })

const nameAt = (path: string): string => path.replace(/^.*node_modules\//, '')

/** The document, with what is known without an installation: sizes and addresses are read from what is installed. */
export const dependencyDocument = (): string => {
  const { packages } = json<{ packages: Readonly<Record<string, Locked>> }>('package-lock.json')
  const project = json<Project>('package.json')
  const rows = rowsOf(project, packages).map(
    ({ name, reason, licence, scripts, where }) =>
      `| ${name} | ${reason} | ${where} | ${licence} | ${sizeOf(name)} | ${scripts ? 'yes' : ''} | ${sourceOf(name)} |`,
  )
  return `${HEAD}\n${rows.join('\n')}\n\n${TRANSITIVE}\n\n${transitive(project, packages)}\n\n${others()}\n`
}

const HEAD = `# Dependencies

Made by \`npm run record:dependencies\` from package.json, package-lock.json and \`build/dependencies/reasons.ts\`; a test compares them.

\`package\`: its code is in the package that users install, with its licence in \`dist/THIRD-PARTY-NOTICES.txt\`. \`installed\`: a package of its own that comes with it. \`repository\`: users never get it. Sizes are those of the installed files, in KB. Scripts: whether it has an install script; npm runs none but that of \`node\` here (\`allowScripts\`), and users get none.

| Package | What for | Where | Licence | KB | Scripts | Source |
|---|---|---|---|---|---|---|`
const TRANSITIVE = '## What these bring'

const transitive = (project: Project, packages: Readonly<Record<string, Locked>>): string => {
  const direct = new Set([...Object.keys(project.dependencies), ...Object.keys(project.devDependencies)])
  const found = Object.entries(packages).filter(([path]) => path !== '' && !direct.has(nameAt(path)))
  const lines = [false, true].map((dev) => {
    const ofKind = found.filter(([, { dev: isDev = false }]) => isDev === dev)
    const names = new Set(ofKind.map(([path, { version, license }]) => `${nameAt(path)} ${version} (${license})`))
    return `${dev ? 'In the repository' : 'With the package'}: ${[...names].toSorted().join(', ')}.`
  })
  return lines.join('\n\n')
}

const others = (): string =>
  `## Other licences\n\n${Object.entries(otherLicences)
    .map(([name, why]) => `- ${name}: ${why}.`)
    .join('\n')}`

const sizeOf = (name: string): number => {
  const folder = join(root, 'node_modules', name)
  const files = globSync('**/*', { cwd: folder }).map((file) => statSync(join(folder, file), { throwIfNoEntry: false }))
  return Math.round(files.reduce((sum, file) => sum + (file?.isFile() ? file.size : 0), 0) / 1000)
}

const sourceOf = (name: string): string => {
  const { repository } = json<{ repository?: string | { url: string } }>(`node_modules/${name}/package.json`)
  const url = typeof repository === 'string' ? repository : (repository?.url ?? '')
  const [, where = 'not said'] = /github(?:\.com[/:]|:)([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(url) ?? [
    undefined,
    plain(url),
  ]
  return where
}

const plain = (url: string): string | undefined => /^[\w-]+\/[\w.-]+$/.exec(url)?.[0] ?? (url === '' ? undefined : url)

/** What each direct dependency is here for. */
const reasons: Readonly<Record<string, string>> = {
  '@anthropic-ai/sdk': 'tests: the real client of Messages',
  '@arethetypeswrong/core': 'tests: types of the package, as each kind of consumer finds them',
  '@biomejs/biome': 'style of the sources',
  '@electric-sql/pglite': 'tests: PostgreSQL in WebAssembly, where none is installed',
  '@fastify/fast-json-stringify-compiler': 'serializers of answers, compiled when a route is first used',
  '@fastify/multipart': 'files that are uploaded for import',
  '@fastify/swagger': 'OpenAPI document from the schemas of routes',
  '@fastify/type-provider-typebox': 'types of requests from the schemas of routes',
  '@hono/node-server': 'example of the gateway in Hono: its server on Node',
  '@jest/diff-sequences': 'alignment of the steps of two compared runs',
  '@modelcontextprotocol/client': 'tests: the real MCP client, second generation',
  '@modelcontextprotocol/conformance': "tests: MCP's own suite",
  '@modelcontextprotocol/sdk': 'tests and bench: the real MCP client and server',
  '@modelcontextprotocol/server-everything': 'tests: a real MCP server with every feature',
  '@modelcontextprotocol/server-filesystem': 'tests: a real MCP server that touches files',
  '@modelcontextprotocol/server-memory': 'tests: a real MCP server with state',
  '@opentelemetry/api': 'tests: the real exporters need it',
  '@opentelemetry/exporter-trace-otlp-http': 'tests: the real sender of OTLP/JSON',
  '@opentelemetry/exporter-trace-otlp-proto': 'tests: the real sender of OTLP in Protocol Buffers',
  '@opentelemetry/sdk-trace-base': 'tests: spans as applications make them',
  '@types/aws4': 'types of aws4',
  '@types/better-sqlite3': 'types of better-sqlite3',
  '@types/d3-array': 'types of d3-array',
  '@types/d3-shape': 'types of d3-shape',
  '@types/express': 'types of express',
  '@types/node': 'types of Node',
  '@types/pg': 'types of pg',
  '@types/picomatch': 'types of picomatch',
  '@types/ws': 'types of ws',
  ajv: 'validation of configuration, policies and tool arguments by JSON Schema',
  aws4: "example of a signer: AWS's Signature Version 4",
  'axe-core': 'tests: accessibility of the pages',
  'better-sqlite3': 'the default storage',
  cac: 'commands and flags',
  'd3-array': 'ticks and bins of charts',
  'd3-shape': 'lines and areas of charts',
  'eventsource-parser': 'event streams of MCP servers and of `replay listen`',
  express: 'example of the gateway in Express',
  'fast-check': 'tests: invented input, also in the test kit for plugins',
  'fast-string-truncated-width': 'width of text in terminals',
  'fastest-levenshtein': '"Did you mean …?"',
  fastify: 'HTTP server',
  'fastify-plugin': "the gateway as a plugin of a user's Fastify",
  hono: 'example of the gateway in Hono',
  idiomorph: 'pages that change in place while events come',
  'ipaddr.js': 'kinds of network addresses that requests of tools must not reach',
  jose: 'sealed tokens of logins at MCP servers',
  kysely: 'SQL of the storages',
  'libpg-query': "PostgreSQL's own grammar, for the check of SQL in tool arguments",
  marked: 'documents as pages of the guide',
  minisearch: 'search in the guide',
  node: 'the Node that the repository runs on, for those with an older one',
  oauth4webapi: 'logins at MCP servers by OAuth',
  'oidc-provider': 'tests: a real authorization server',
  ollama: 'tests: the real client of Ollama',
  openai: 'tests: the real client of Responses and Chat Completions',
  pg: 'connection of the PostgreSQL storage',
  picomatch: 'patterns of paths in policies',
  'playwright-core': 'tests and bench: pages in a real browser',
  protobufjs: 'OTLP in Protocol Buffers',
  publint: 'tests: manifest of the package',
  re2js: 'regular expressions from policies and schemas, in linear time',
  rolldown: 'build: chunks of JavaScript',
  'rolldown-plugin-dts': 'build: declarations',
  standardwebhooks: 'tests: signatures of webhooks, checked by the reference',
  tapable: 'hooks that plugins tap',
  'tiny-lru': 'caches with a limit',
  tinybench: '`guard bench`',
  'tree-sitter-bash': "Bash's grammar, for the check of commands in tool arguments",
  typebox: 'schemas of routes and options with their types',
  typescript: 'types of the sources, and declarations',
  undici: 'client of upstreams: its parser is that of Node, and it costs less than `node:http`',
  'web-tree-sitter': 'runs the grammar of Bash',
  ws: 'WebSockets to and from clients',
  yaml: 'configuration, policies, prices',
}

/** Licences beside MIT, Apache, BSD and ISC that were here before, with why each may be. None of them is in the package. */
const otherLicences: Readonly<Record<string, string>> = {
  'axe-core': 'MPL-2.0: a tool of tests, unchanged, not distributed',
  jszip: 'MIT is chosen of the two',
  pako: 'MIT and zlib: as free as MIT',
  'fast-sha256': 'Unlicense: public domain',
  '@modelcontextprotocol/server-everything': 'MIT, as its README says',
  '@modelcontextprotocol/server-filesystem': 'MIT, as its README says',
  '@modelcontextprotocol/server-memory': 'MIT, as its README says',
}

// Writes build/DEPENDENCIES.md.

writeFileSync(join(root, 'build/DEPENDENCIES.md'), dependencyDocument())
