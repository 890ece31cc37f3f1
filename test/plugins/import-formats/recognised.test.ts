import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { jsonl } from 'guard-gateway/plugins/export-formats/jsonl'
import { otel } from 'guard-gateway/plugins/export-formats/otel'
import { claudeCode } from 'guard-gateway/plugins/import-formats/claude-code'
import { codex } from 'guard-gateway/plugins/import-formats/codex'
import { geminiCli } from 'guard-gateway/plugins/import-formats/gemini-cli'
import { jaeger } from 'guard-gateway/plugins/import-formats/jaeger'
import { langfuse } from 'guard-gateway/plugins/import-formats/langfuse'
import { otlpLines } from 'guard-gateway/plugins/import-formats/otlp-lines'
import { zipkin } from 'guard-gateway/plugins/import-formats/zipkin'
import { exportFormatKind, importFormatKind } from '#lib/export-format'
import { importFile } from '#lib/trace-file'
import { exported } from '../../kit/exchange.ts'
import { recordedFiles } from '../../kit/import-files.ts'
import { aTrace } from '../../kit/traces.ts'

// exports first here, so that none depends on being asked late
const plugins = [otel, json, zipkin, langfuse, jaeger, otlpLines, geminiCli, codex, claudeCode] as const
const gateway = new Gateway().use(...plugins)
const formats = [...gateway.registry(exportFormatKind), ...gateway.registry(importFormatKind)]
const acceptedBy = (text: string): readonly string[] =>
  formats.filter(({ accepts }) => accepts?.(importFile(text)) === true).map(({ id }) => id)

const expected = (path: string): readonly string[] => {
  if (path.includes('claude-code')) return ['claude_code']
  if (path.includes('codex')) return ['codex']
  if (path.includes('gemini')) return ['gemini_cli']
  // its first line alone is an OTLP export
  return path.endsWith('zipkin.json') ? ['zipkin'] : ['otel', 'otlp_lines']
}

describe('the format of a recorded file', () => {
  for (const path of [...recordedFiles('session-files'), ...recordedFiles('trace-files')])
    it(`is told by its content: ${path.slice(path.indexOf('-files/') + 7)}`, () => {
      const text = readFileSync(path, 'utf8')
      assert.deepEqual(acceptedBy(text), expected(path))
      assert.deepEqual(acceptedBy(`\uFEFF${text}`), expected(path))
    })

  it('is none of these for an export of this store', () => {
    assert.deepEqual(acceptedBy(exported(json, aTrace())), ['json'])
    assert.deepEqual(acceptedBy(exported(otel, aTrace())), ['otel'])
    assert.deepEqual(acceptedBy(exported(jsonl, aTrace())), [])
  })

  it('is none for other text', () => {
    for (const text of [
      '',
      '[]',
      '{}',
      'trace',
      '[{"id":1}]',
      '{"data":[{"id":1}]}',
      '{"messages":[]}',
      '\0',
      '{"type":"user"}',
    ])
      assert.deepEqual(acceptedBy(text), [], text)
  })
})
