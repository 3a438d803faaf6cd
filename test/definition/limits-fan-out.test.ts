import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { accepted, documentOf, refusalOf, step } from './documents.ts';

const each = (members: JsonObject): JsonObject => ({
  type: 'for_each',
  id: 'f',
  collection: 'rows',
  body: [step('a')],
  ...members,
});

const sideBySide = (members: JsonObject): JsonObject => ({
  type: 'parallel',
  id: 'p',
  branches: [[step('a')], [step('b')]],
  ...members,
});

describe('limits of fan-out', () => {
  it('[B25] fail_fast and min_successful exclude each other', () => {
    expect(refusalOf([sideBySide({ fail_fast: true, min_successful: 1 })])).toMatch(
      /^400 .*fail_fast and min_successful exclude each other.*B25/,
    );
    expect(accepted(documentOf([sideBySide({ fail_fast: false, min_successful: 1 })])).blocks).toHaveLength(
      1,
    );
  });

  it('[B25] tolerate asks for failures that the block outlives', () => {
    const tolerate = { count: 1 };
    expect(refusalOf([each({ tolerate, on_item_failure: 'fail' })])).toMatch(
      /^400 .*tolerate needs on_item_failure 'continue'/,
    );
    expect(accepted(documentOf([each({ tolerate, on_item_failure: 'continue' })])).blocks).toHaveLength(1);
    expect(accepted(documentOf([each({ tolerate })])).blocks).toHaveLength(1);
  });

  it('[B25] collect and retain_iterations exclude each other', () => {
    expect(refusalOf([each({ collect: true, retain_iterations: 5 })])).toMatch(/^400 .*retain_iterations/);
    expect(accepted(documentOf([each({ collect: false, retain_iterations: 5 })])).blocks).toHaveLength(1);
  });

  it('[B25] on_item_failure is fail or continue', () => {
    expect(refusalOf([each({ on_item_failure: 'stop' })])).toMatch(/^422 /);
    expect(refusalOf([each({ concurrency: 1.5 })])).toMatch(/^422 /);
    expect(refusalOf([each({ collect: 'yes' })])).toMatch(/^422 /);
  });
});
