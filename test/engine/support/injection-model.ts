import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import type { ChangeAnswer, ChangeRequest } from '../../../src/ports/store/shape.ts';
import type { Store } from '../../../src/ports/store/store.ts';

/**
 * The root list of a run as the specification describes it ([OP-10], [LIST-1]): ids in a list, injections by position,
 * and as the next block always the first one that has not ended.
 */
export class InjectionModel {
  list: readonly string[];
  readonly wrong: string[] = [];
  private readonly rootOf = new Map<string, string>();
  private readonly ended = new Set<string>();
  private current: string | null = null;

  constructor(blocks: readonly JsonObject[]) {
    this.list = blocks.map((block) => this.learn(block));
  }

  private learn(block: JsonObject): string {
    const root = idOf(block);
    for (const id of idsIn(block)) this.rootOf.set(id, root);
    return root;
  }

  inject(blocks: readonly JsonObject[], position: number | null): void {
    const at = Math.min(position ?? this.list.length, this.list.length);
    this.list = this.list.toSpliced(at, 0, ...blocks.map((block) => this.learn(block)));
  }

  /** A handler is called: its root block is the one that is worked on, or the next one. */
  called(blockId: string): void {
    const root = this.rootOf.get(blockId);
    if (root === undefined || root === this.current) return;
    const next = this.list.find((id) => !this.ended.has(id) && id !== this.current);
    if (root !== next) {
      this.wrong.push(`${blockId} of ${root} was called, the next block is ${next ?? 'none'}`);
    }
    this.begun(blockId);
  }

  /** A block begins in a commit, before which an injection may have been accepted that its turn has not seen. */
  begun(blockId: string): void {
    const root = this.rootOf.get(blockId);
    if (root === undefined || root === this.current) return;
    if (this.current !== null) this.ended.add(this.current);
    this.current = root;
  }

  /** Root blocks that nothing was called of. */
  get untouched(): readonly string[] {
    return this.list.filter((id) => !this.ended.has(id) && id !== this.current);
  }
}

function idOf(block: JsonObject): string {
  const { id } = block;
  if (typeof id !== 'string') throw new Error('a block without an id');
  return id;
}

function idsIn(value: Json): readonly string[] {
  if (isJsonArray(value)) return value.flatMap(idsIn);
  if (!isJsonObject(value)) return [];
  const own = typeof value['type'] === 'string' ? [idOf(value)] : [];
  return [...own, ...Object.values(value).flatMap(idsIn)];
}

/**
 * A store that tells of every change in the moment in which it is accepted, and once; and of what has begun although nobody
 * was called: worker tasks, and composites a leaf of which has a durable intent.
 */
export function tellingStore(
  inner: Store,
  onAccepted: (request: ChangeRequest) => void,
  onBegun: (blockId: string) => void,
): Store {
  const told = new Set<string>();
  return {
    ...inner,
    commit: async (turns) => {
      const answer = await inner.commit(turns);
      turns.forEach((turn, index) => {
        const verdict = answer.verdicts[index];
        if (verdict?.verdict !== 'ok') return;
        for (const { blockId } of turn.tasksCreated) onBegun(blockId);
        if (!verdict.granted) return;
        for (const { frame, intent } of turn.frames) if (intent !== null) onBegun(frame.blockId);
      });
      return answer;
    },
    acceptChange: async (request): Promise<ChangeAnswer> => {
      const answer = await inner.acceptChange(request);
      if (answer.status === 'accepted' && !told.has(request.id)) {
        told.add(request.id);
        onAccepted(request);
      }
      return answer;
    },
  };
}
