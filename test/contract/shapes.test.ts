import { describe, expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json, type JsonObject, member } from '../../src/core/json.ts';
import type { Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { answerContent, nameOf, statusesOf } from './support/documented.ts';
import { specified } from './support/specified.ts';
import { ADDED_ROUTES, ANSWERS, type Answers } from './tables/answers.ts';

/** The document that the server sends, held against the tables of http-api.md, member by member. */

const listOf = (value: Json | undefined): readonly Json[] => (isJsonArray(value) ? value : []);

const textOf = (value: Json | undefined): string => JSON.stringify(value ?? null);

/** A schema without null, and whether null is allowed; literals as a sorted list. */
function plain(schema: JsonObject): {
  readonly nullable: boolean;
  readonly literals: readonly string[] | null;
  readonly schemas: readonly JsonObject[];
} {
  const branches = listOf(member(schema, 'anyOf')).filter(isJsonObject);
  const types = listOf(member(schema, 'type'));
  const alternatives = types.length === 0 ? [schema] : types.map((type) => ({ ...schema, type }));
  const all = branches.length === 0 ? alternatives : branches;
  const rest = all.filter((one) => member(one, 'type') !== 'null');
  const literals = rest.flatMap((one) => [
    ...listOf(member(one, 'enum')),
    ...(member(one, 'const') === undefined ? [] : [member(one, 'const') ?? null]),
  ]);
  return {
    nullable: rest.length < all.length,
    literals: literals.length === 0 ? null : literals.map(String).toSorted(),
    schemas: rest,
  };
}

/** Ways in which the document says something else than the specification; both are JSON Schemas. */
function differences(spec: JsonObject, doc: JsonObject, at: string): readonly string[] {
  const wanted = plain(spec);
  const shown = plain(doc);
  const [first = {}] = wanted.schemas;
  const [other = {}] = shown.schemas;
  // Any value: the document may say more.
  if (wanted.schemas.every((one) => Object.keys(one).length === 0)) return [];
  const found: string[] = [];
  const isAny = Object.keys(other).length === 0;
  if (wanted.nullable !== shown.nullable && !isAny)
    found.push(`${at}: null is ${wanted.nullable ? '' : 'not '}allowed`);
  if (wanted.literals !== null) {
    const said = String(shown.literals);
    // A fixed value need not be told by the document.
    if (wanted.literals.length === 1 && shown.literals === null) return found;
    return said === String(wanted.literals)
      ? found
      : [...found, `${at}: ${said} instead of ${String(wanted.literals)}`];
  }
  if (wanted.schemas.length > 1) return found;
  const type = member(first, 'type');
  if (type !== member(other, 'type') && shown.literals === null) {
    return [...found, `${at}: ${textOf(member(other, 'type'))} instead of ${textOf(type)}`];
  }
  const items = member(first, 'items');
  const otherItems = member(other, 'items');
  if (isJsonObject(items)) {
    return [...found, ...differences(items, isJsonObject(otherItems) ? otherItems : {}, `${at}[]`)];
  }
  return [...found, ...memberDifferences(first, other, at)];
}

function memberDifferences(spec: JsonObject, doc: JsonObject, at: string): readonly string[] {
  const wanted = member(spec, 'properties');
  if (!isJsonObject(wanted)) return [];
  const shown = member(doc, 'properties');
  // An object that the document leaves open; real answers are held against the tables.
  if (shown === undefined && member(doc, 'additionalProperties') !== false) return [];
  const names = new Set([...Object.keys(wanted), ...Object.keys(isJsonObject(shown) ? shown : {})]);
  return [...names].flatMap((name) => {
    const place = `${at}.${name}`;
    const mine = member(wanted, name);
    const theirs = member(shown, name);
    const isRequired = listOf(member(spec, 'required')).includes(name);
    if (!isJsonObject(mine)) return [`${place}: is in no table`];
    // What may be absent may be absent always, and what may be there may be there always.
    if (!isJsonObject(theirs)) return isRequired ? [`${place}: is missing`] : [];
    const isShown = listOf(member(doc, 'required')).includes(name);
    const presence = isRequired && !isShown ? [`${place}: must be there`] : [];
    return [...presence, ...differences(mine, theirs, place)];
  });
}

function answerDifferences(
  route: Route,
  status: string,
  shape: Answers[number] | undefined,
): readonly string[] {
  const content = answerContent(route, Number(status));
  if (shape === null || shape === undefined) return content === null ? [] : [`${status}: has a body`];
  if (typeof shape === 'string' && shape.includes('/')) {
    return content?.mediaType === shape ? [] : [`${status}: is not ${shape}`];
  }
  return differences(specified(shape), content?.schema ?? {}, status);
}

describe('the document of the API', () => {
  it('has the routes of http-api.md and those that are known additions', () => {
    const known = [...Object.keys(ANSWERS), ...ADDED_ROUTES];
    expect(ROUTES.map(nameOf).toSorted()).toEqual(known.toSorted());
  });

  it.each(
    ROUTES.filter((route) => Object.hasOwn(ANSWERS, nameOf(route))).map(
      (route) => [nameOf(route), route] as const,
    ),
  )('names for %s the statuses and members of the tables, each with its type', (name, route) => {
    const answers = ANSWERS[name] ?? {};
    expect(statusesOf(route).map(String).toSorted()).toEqual(Object.keys(answers).toSorted());
    expect(
      Object.entries(answers).flatMap(([status, shape]) => answerDifferences(route, status, shape)),
    ).toEqual([]);
  });
});
