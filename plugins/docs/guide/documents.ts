/** A document of the package that the guide shows. */
export interface GuideDocument {
  /** Last part of its address. */
  readonly slug: string
  /** Path in the package. */
  readonly file: string
  /** Heading of the list that it stands under. */
  readonly group: string
}

/** Every document that is served, in the order of the list. */
const files: Readonly<Record<string, readonly string[]>> = {
  Start: ['README.md', 'plugins/CONCEPTS.md', 'plugins/COMPARISON.md', 'SECURITY.md', 'CHANGELOG.md'],
  'How to': [
    'plugins/clients/CONNECT.md',
    'plugins/clients/README.md',
    'plugins/policy/FIRST-BLOCK.md',
    'plugins/upstream/PROVIDERS.md',
    'plugins/upstream/README.md',
    'plugins/policy/budgets/README.md',
    'plugins/policy/simulate/README.md',
    'plugins/notify/README.md',
    'plugins/replay/GUIDE.md',
    'plugins/replay/README.md',
    'plugins/replay/pricing/README.md',
    'plugins/replay/mcp/README.md',
    'plugins/replay/sdk/README.md',
    'plugins/mcp/GUIDE.md',
    'plugins/mcp/draft/README.md',
    'plugins/mcp/policy/README.md',
    'plugins/mcp/bundle/README.md',
    'plugins/mcp/login/README.md',
    'plugins/otlp/README.md',
    'plugins/otlp-push/README.md',
    'plugins/access/README.md',
    'plugins/storage/postgres/TEAM.md',
    'plugins/storage/postgres/README.md',
    'plugins/storage/copy/README.md',
    'plugins/lib/network/README.md',
    'examples/run-for-good/README.md',
    'examples/scale-out/README.md',
    'plugins/bench/README.md',
    'bench/README.md',
  ],
  'Plugins of your own': [
    'plugins/README.md',
    'plugins/detectors/README.md',
    'plugins/HOOKS.md',
    'plugins/ui/README.md',
    'plugins/cli/README.md',
    'plugins/api-styles/README.md',
    'plugins/mcp-checks/README.md',
    'plugins/mcp-result-checks/README.md',
    'plugins/mcp-transports/README.md',
    'plugins/notifiers/README.md',
    'plugins/export-formats/README.md',
    'plugins/import-formats/README.md',
    'plugins/storage/README.md',
    'plugins/upstream-clients/README.md',
    'plugins/upstream-sockets/README.md',
  ],
  Inside: [
    'core/README.md',
    'plugins/lib/README.md',
    'plugins/lib/json/README.md',
    'plugins/lib/request-reader/README.md',
    'plugins/lib/sse/README.md',
    'plugins/cluster/README.md',
    'plugins/docs/README.md',
    'plugins/http/README.md',
    'plugins/mcp/README.md',
    'plugins/memory-budget/README.md',
    'plugins/metrics/README.md',
    'plugins/parsers/README.md',
    'plugins/playground/README.md',
    'plugins/policy/README.md',
    'plugins/recorder/README.md',
    'plugins/redaction/README.md',
    'plugins/responses-socket/README.md',
    'plugins/service/README.md',
    'plugins/sessions/README.md',
    'plugins/storage/sqlite/README.md',
    'plugins/store/README.md',
    'plugins/provider-objects/README.md',
    'plugins/upstream-clients/undici/README.md',
  ],
}

const named: Readonly<Record<string, string>> = {
  'README.md': 'readme',
  'bench/README.md': 'benchmarks',
  'plugins/README.md': 'plugins',
}

/** `plugins/mcp/policy/README.md` is `mcp-policy`. */
const slugOf = (file: string): string =>
  named[file] ??
  file
    .replace(/^plugins\//, '')
    .replace(/(?:\/README)?\.md$/, '')
    .toLowerCase()
    .replaceAll('/', '-')

export const documents: readonly GuideDocument[] = Object.entries(files).flatMap(([group, names]) =>
  names.map((file) => ({ slug: slugOf(file), file, group })),
)

/** Id of a heading in its page, by its anchor: the page has ids of its own. */
export const headingId = (anchor: string): string => `h-${anchor}`
