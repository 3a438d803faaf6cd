import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { memberTable } from '../../src/core/definition/member-table.ts';
import { didYouMean, nearestName } from '../../src/core/definition/did-you-mean.ts';

describe('tables of members', () => {
  it('a union without objects has no members to know', () => {
    expect(memberTable(z.union([z.string(), z.boolean()])).kind).toBe('value');
  });

  it('choices that have no single tag are left to the schema', () => {
    const inner = z.discriminatedUnion('type', [z.object({ type: z.literal('a') })]);
    const outer = z.discriminatedUnion('type', [inner, z.object({ type: z.enum(['b', 'c']) })]);
    expect(memberTable(outer)).toEqual({ kind: 'block', byType: new Map() });
  });

  it('is made once per schema', () => {
    const schema = z.object({ a: z.string().exactOptional(), b: z.string() });
    const table = memberTable(schema);
    expect(memberTable(schema)).toBe(table);
    expect(table.kind === 'object' && table.members.get('a')?.optional).toBe(true);
    expect(table.kind === 'object' && table.members.get('b')?.optional).toBe(false);
  });
});

describe('suggestions', () => {
  it('are within two edits, the nearest first, and never the name itself', () => {
    expect(nearestName('retyr', ['retry', 'rety'])).toBe('rety');
    expect(nearestName('hanlder', ['handler'])).toBe('handler');
    expect(nearestName('colour', ['handler', 'type'])).toBeUndefined();
    expect(nearestName('noop', ['noop', 'nop'])).toBe('nop');
    expect(nearestName('ab', [''])).toBe('');
    expect(nearestName('', ['ab', 'abc'])).toBe('ab');
  });

  it('are not looked for when the name is absurdly long', () => {
    const long = 'x'.repeat(65);
    expect(didYouMean(long, [`${long}y`])).toBe('');
  });
});
