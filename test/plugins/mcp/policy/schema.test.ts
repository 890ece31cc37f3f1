import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import type { McpCheck, McpResultCheck } from '#lib/mcp-check'
import { policySchema } from '../../../../plugins/mcp/policy/schema.ts'
import { validatePolicy } from '../../../../plugins/mcp/policy/validate.ts'
import { httpHosts } from '../../../../plugins/mcp-checks/http.ts'
import { path } from '../../../../plugins/mcp-checks/path.ts'
import { shell } from '../../../../plugins/mcp-checks/shell.ts'
import { size } from '../../../../plugins/mcp-checks/size.ts'
import { sql } from '../../../../plugins/mcp-checks/sql.ts'
import { injection } from '../../../../plugins/mcp-result-checks/injection.ts'
import { secrets } from '../../../../plugins/mcp-result-checks/secrets.ts'
import { resultSize } from '../../../../plugins/mcp-result-checks/size.ts'

const root = join(import.meta.dirname, '../../../..')
const folder = join(root, 'presets/mcp-policies')
const builtIn: readonly McpCheck[] = [path, shell, httpHosts, sql, size] as readonly unknown[] as readonly McpCheck[]

const ofResults = [resultSize, secrets, injection] as readonly unknown[] as readonly McpResultCheck[]

describe('the schema of policies', () => {
  it('assembled from the built-in checks is the one that ships beside the presets', () => {
    const shipped = JSON.parse(readFileSync(join(folder, 'mcp-policy.schema.json'), 'utf8'))
    assert.deepEqual(JSON.parse(JSON.stringify(policySchema(builtIn, ofResults))), shipped)
  })
})

describe('shipped policies', () => {
  const presets = readdirSync(folder).filter((name) => name.endsWith('.yml'))
  for (const file of [...presets.map((name) => join(folder, name)), join(root, 'examples/mcp-policy.yml')]) {
    it(`${basename(file)} is valid, passes its own tests and earns no warning`, async () => {
      const gateway = new Gateway().use(
        ...foundation(),
        path,
        shell,
        httpHosts,
        sql,
        size,
        resultSize,
        secrets,
        injection,
      )
      const { valid, errors, warnings, tests } = await validatePolicy(
        gateway,
        { text: readFileSync(file) },
        { env: {} },
      )
      assert.deepEqual({ valid, errors, warnings }, { valid: true, errors: [], warnings: [] })
      assert.ok(tests.length > 5)
    })
  }
})
