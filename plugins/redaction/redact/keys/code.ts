import { ALNUM, BASE64, HEX, OPAQUE, PARTS, URL64, WORD } from '../alphabet.ts'
import { type KeyRule, key, LONG } from './rule.ts'

/** Keys of code hosting, registries and builds. Source: the vendor's documentation where no other is named. */
export const codeKeys: readonly KeyRule[] = [
  // gitleaks: github-pat, github-oauth, github-app-token, github-refresh-token, github-fine-grained-pat
  key('ghp_ gho_ ghu_ ghr_', ALNUM, 36, 255),
  // GitHub: since 2026 an installation's token holds a JWT
  key('ghs_', PARTS, 36, LONG * 2, 'issued'),
  key('github_pat_', WORD, 60, 255),
  // gitleaks: gitlab-*, with the routable forms of 2025
  key('glpat- gldt- glptt- glrt- glrtr- glsoat- glcbt- glimt- glagent- glft- glffct- gloas- glwt-', PARTS, 20, 400),
  key('GR1348941', URL64, 20),
  // gitleaks: atlassian-api-token; trufflehog: bitbucketdatacenter; Trello
  key('ATBB', ALNUM, 32, 32),
  key('ATATT3 ATCTT3', OPAQUE, 100, 300),
  key('ATTA', ALNUM, 72, 72, 'mixed'),
  key('BBDC-', BASE64, 40, 50, 'issued'),
  // gitleaks: npm-access-token, pypi-upload-token, rubygems-api-token, clojars-api-token, artifactory-api-key, -reference-token
  key('npm_', ALNUM, 36),
  key('pypi-', URL64, 80, LONG),
  key('rubygems_', HEX, 48),
  key('CLOJARS_', ALNUM, 60),
  key('AKCp', ALNUM, 64, 80),
  key('cmVmd', ALNUM, 59),
  key('cio', ALNUM, 32, 32, 'mixed'),
  // trufflehog: dockerhub; Microsoft security-utilities: SEC101/031
  key('dckr_pat_ dckr_oat_', URL64, 20, 60),
  key('oy2', ALNUM, 43, 43, 'mixed'),
  // trufflehog: sonarcloud, buildkite, circleci, postman; gitleaks: sonar-api-token
  key('sqp_ squ_ sqa_', HEX, 40),
  key('sqco_', ALNUM, 59),
  key('bkua_ bkaj_ bkat_', HEX, 40),
  key('CCIPAT_ CCIPRJ_', WORD, 40, 90),
  key('PMAK-', URL64, 59),
  key('rdme_', ALNUM, 70),
  key('snyk_uat.', PARTS, 40, LONG),
  // secretlint: figma; trufflehog: figmapersonalaccesstoken
  key('figd_ figp_ figu_', OPAQUE, 35, 200),
  // gitleaks: sourcegraph-access-token; trufflehog: sourcegraphcody
  key('sgp_', WORD, 40, 64),
  key('slk_', HEX, 64),
  // JetBrains, LaunchDarkly; trufflehog: portainertoken
  key('perm: perm-', PARTS, 60, 200, 'issued'),
  key('sdk- api- mob-', URL64, 36, 36, 'uuid'),
  key('ptr_', BASE64, 20, 60, 'issued'),
  // Contentful (trufflehog), Frame.io and Adobe (gitleaks: frameio-api-token, adobe-client-secret)
  key('CFPAT-', URL64, 43),
  key('fio-u-', OPAQUE, 64),
  key('p8e-', ALNUM, 32),
  // gitleaks: intra42-client-secret
  key('s-s4t2ud- s-s4t2af-', HEX, 64),
]
