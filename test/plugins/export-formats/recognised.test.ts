import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { jsonl } from 'guard-gateway/plugins/export-formats/jsonl'
import { otel } from 'guard-gateway/plugins/export-formats/otel'
import { exportFormatKind } from '#lib/export-format'
import { importFile } from '#lib/trace-file'
import { exported } from '../../kit/exchange.ts'
import { aTrace } from '../../kit/traces.ts'

const formats = [...new Gateway().use(json, jsonl, otel).registry(exportFormatKind)]

describe('the format of an import file', () => {
  it('is detected by content: exactly one format accepts each file, complete or truncated', () => {
    for (const format of formats) {
      const text = exported(format, aTrace())
      for (const file of [text, `\uFEFF${text}`, text.slice(0, text.length / 2)]) {
        assert.deepEqual(
          formats.filter((other) => other.accepts?.(importFile(file))).map(({ id }) => id),
          [format.id],
        )
      }
    }
  })

  it('is undefined for other text', () => {
    for (const text of ['', 'schema: trace.v1', '[{"schema":"trace.v1"}]', '{}', '"run"']) {
      assert.ok(!formats.some((format) => format.accepts?.(importFile(text))), text)
    }
  })
})
