import { valuesOf } from './option-clusters.ts'

type Words = readonly (string | undefined)[]
type Options = Readonly<Record<string, string>>

/** Options with a path to code, configuration or results. */
const PLACES: Options = {
  make: '-C --directory -f --file --makefile -I --include-dir -o --old-file',
  just: '-f --justfile -d --working-directory',
  task: '-t --taskfile -d --dir',
  rake: '-f --rakefile -R --rakelibdir -I --libdir',
  ninja: '-C -f',
  npm: '-C --prefix --cache --globalconfig --userconfig',
  pnpm: '-C --dir --prefix --config-dir --global-dir --modules-dir --store-dir',
  yarn: '--cwd --cache-folder --modules-folder',
  bun: '--cwd -c --config --preload',
  turbo: '--cwd',
  cargo: '-C --manifest-path --target-dir --out-dir --artifact-dir --lockfile-path',
  go: '-C -overlay -modfile -o -outputdir -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -pgo',
  kubectl: '--kubeconfig --cache-dir',
  helm: '--kubeconfig --registry-config --repository-config --repository-cache',
  eslint: '-c --config --rulesdir --resolve-plugins-relative-to -o --output-file --cache-location --ignore-path',
  prettier: '--config --plugin-search-dir --cache-location',
  stylelint: '-c --config --config-basedir -o --output-file --cache-location',
  biome: '--config-path',
  jest: '-c --config --rootDir --outputFile --coverageDirectory --cacheDirectory --roots',
  vitest: '-c --config -r --root --dir --outputFile --coverage.reportsDirectory',
  mocha: '--config --package',
  playwright: '-c --config -o --output',
  cypress: '-C --config-file -P --project',
  nyc: '--nycrc-path --cwd --report-dir --temp-dir',
  c8: '-c --config -r --report-dir',
  tsc: '-p --project --outDir --outFile --declarationDir --tsBuildInfoFile --rootDir',
  webpack: '-c --config -o --output-path',
  vite: '-c --config --outDir',
  rollup: '-c --config -o --file -d --dir',
  esbuild: '--outfile --outdir --tsconfig',
  babel: '--config-file --out-dir --out-file',
  pytest: '-c --config-file --rootdir --confcutdir --basetemp --junitxml --junit-xml --ignore-file -o',
  mypy: '--config-file --cache-dir --junit-xml --html-report --xml-report --any-exprs-report --txt-report',
  pylint: '--rcfile --output',
  flake8: '--config --append-config --output-file',
  ruff: '--config --cache-dir --output-file -o',
  black: '--config',
  isort: '--settings-path --settings-file',
  bandit: '-c --configfile -o --output --ini',
  coverage: '--rcfile --data-file -o',
  tox: '-c --conf --workdir --root',
  nox: '-f --noxfile --envdir',
  rspec: '-O --options -o --out --default-path -I',
  rubocop: '-c --config -o --out --cache-root',
  bundle: '--gemfile',
  composer: '-d --working-dir',
  phpunit:
    '-c --configuration --cache-directory --log-junit --coverage-html --coverage-php --testdox-html --include-path',
  phpstan: '-c --configuration -a --autoload-file',
  mvn: '-f --file -s --settings -gs --global-settings -t --toolchains -ps',
  gradle:
    '-p --project-dir -b --build-file -c --settings-file -g --gradle-user-home --project-cache-dir --include-build',
  gradlew:
    '-p --project-dir -b --build-file -c --settings-file -g --gradle-user-home --project-cache-dir --include-build',
  bazel: '--bazelrc --output_base --output_user_root',
  cmake: '-C -P -S -B --toolchain --preset',
  dotnet: '--settings --results-directory -o --output --artifacts-path',
  terraform: '-chdir',
  tofu: '-chdir',
  node: '--import --loader --experimental-loader --env-file --env-file-if-exists --experimental-config-file --test-reporter-destination --heapsnapshot-near-heap-limit --diagnostic-dir --report-dir --report-directory --cpu-prof-dir --build-snapshot',
  ruby: '-C -I',
  golangci_lint: '-c --config',
  'golangci-lint': '-c --config',
}

/** Options that load code by name. */
const CODE: Options = {
  eslint: '-f --format --parser --plugin --rulesdir',
  prettier: '--plugin --parser',
  stylelint: '--custom-formatter --custom-syntax --plugin',
  jest: '--setupFiles --setupFilesAfterEach --setupFilesAfterEnv --transform --testRunner --reporters --runner --env --testEnvironment --globalSetup --globalTeardown --resolver --preset --testSequencer --testResultsProcessor --filter',
  vitest: '--reporter --environment --globalSetup --runner --pool',
  mocha: '-r --require -R --reporter -u --ui --import --loader --file',
  ava: '-r --require',
  tape: '-r --require --import',
  nyc: '-r --require --reporter',
  c8: '--reporter',
  'ts-node': '-r --require --compiler',
  babel: '--plugins --presets',
  rollup: '-p --plugin',
  postcss: '-u --use',
  node: '-r --require --test-reporter',
  pylint: '--load-plugins',
  rspec: '-r --require -f --format',
  rubocop: '-r --require --plugin -f --format',
  ruby: '-r',
  phpunit: '--bootstrap --extension --loader --printer --prepend',
  php: '-d -c -z',
  webpack: '--require',
  coverage: '--plugins',
}

/** Common pytest plugins. */
const PYTEST =
  /^(?:no:[\w.-]+|xdist|asyncio|anyio|cov|pytest_cov|pytest_mock|timeout|pytest_timeout|randomly|sugar|cacheprovider|terminal|doctest|pytester|faulthandler|warnings|logging|hypothesis|_hypothesis_pytestplugin|django|flask)$/

/** A path outside of the current folder, or a URL. */
const EXTERNAL = /^(?:~|[\\/]|[A-Za-z]:[\\/]|\$|[a-z][a-z+]*:(?!\w*$))|(?:^|[\\/])\.\.(?:[\\/]|$)/i
/** Null devices, and the usual configuration of kubectl. */
const USUAL = /^(?:\/dev\/(?:null|stdout|stderr)|~\/\.kube\/[\w./-]+)$/

/** A dynamic value is judged by its text. */
const isExternal = (value = ''): boolean => EXTERNAL.test(value) && !(USUAL.test(value) && !value.includes('..'))

/** A package name, or a part of one, but no file. */
const PACKAGE = /^(?:node:)?@?[A-Za-z0-9_][\w.-]*(?:\/[\w.-]+)*$/
const FILE = /\.(?:[cm]?[jt]sx?|py|rb|php|so|dll|dylib|node|phar)$/i

const isPackage = (value = 'x'): boolean =>
  value.split(',').every((one) => PACKAGE.test(one) && !FILE.test(one) && !one.split('/').includes('..'))

const optionsFor = (table: Options, program: string): readonly string[] =>
  Object.hasOwn(table, program) ? (table[program] ?? '').split(' ') : []

/** Programs that start a locally installed program. */
const STARTERS = /^(?:npx|bunx|pnpx|pnpm|yarn|bundle|uvx|pipx|poetry|pipenv)$/

/** The started program and its arguments. Includes Python modules. */
export const launchedProgram = (program: string, args: Words): readonly [program: string, args: Words] | undefined => {
  if (program === 'python') return args[0] === '-m' ? [args[1] ?? '', args.slice(2)] : undefined
  if (!STARTERS.test(program)) return undefined
  const at = args.findIndex((word) => word === undefined || !/^(?:-|exec$|run$|dlx$)/.test(word))
  return at === -1 ? undefined : [args[at] ?? '', args.slice(at + 1)]
}

/** Programs that accept abbreviated options. */
const SHORTENING = /^(?:make|pytest|mypy|pylint|flake8|tox|nox|coverage|bandit|isort|rspec|rubocop|rake|mvn)$/

/** True if options point a program to external code or configuration, or make it load code. `args` has undefined for dynamic words. */
export const takesExternalInput = (program: string, args: Words): boolean => {
  const valuesIn = (table: Options) => valuesOf(args, optionsFor(table, program), SHORTENING.test(program))
  if (valuesIn(PLACES).some(isExternal) || valuesIn(CODE).some((value) => !isPackage(value))) return true
  return program === 'pytest' && valuesOf(args, ['-p'], false).some((value) => !PYTEST.test(value ?? 'xdist'))
}
