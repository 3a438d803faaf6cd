import { describe, expect, it } from 'vitest';
import { checkConnections } from '../../infra/connections.ts';
import { stageSettings } from '../../infra/stage.ts';

const stage = {
  ...stageSettings('production'),
  turnFunctionsMax: 40,
  reserved: { api: 30, stream: 5, sweep: 2 },
};

describe('the connections of a stage', () => {
  it('fit when all functions together hold no more than the database takes', () => {
    expect(() => checkConnections(80, stage)).not.toThrow();
  });

  it('are refused when they could be more', () => {
    expect(() => checkConnections(79, stage)).toThrow(/may open 80 connections, its database takes 79/);
  });

  it('are refused when nothing bounds the requests', () => {
    expect(() => checkConnections(1000, { ...stage, reserved: null })).toThrow(/needs stage.reserved/);
  });
});
