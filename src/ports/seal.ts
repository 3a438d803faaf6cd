/** Keeps secrets unreadable at rest. `context` names what a secret belongs to: sealed text opens under the same one only. */
export interface Seal {
  seal(secret: string, context: string): string;
  /** null: sealed with another key, for another context, or damaged. */
  open(sealed: string, context: string): string | null;
}
