/** Who wrote a record; what the gateway or the MCP proxy wrote nobody else changes. */
export type Owner = 'gateway' | 'mcp' | 'client'

/** How a run came about; set by the server, fixed at creation. */
export type Origin = 'gateway' | 'mcp' | 'api' | 'otlp' | 'import' | 'playground'

/** In the order in which people are shown them. */
export const spanKinds = ['agent', 'model', 'tool', 'command', 'policy', 'retrieval', 'other'] as const
export type SpanKind = (typeof spanKinds)[number]

export type Severity = 'info' | 'warn' | 'error'

/** Reasons that a run may give for its failure. */
export const failureTags = ['loop', 'timeout', 'rate_limit', 'policy_block', 'test_failure'] as const
export type FailureTag = (typeof failureTags)[number]

export type Attributes = Readonly<Record<string, unknown>>
