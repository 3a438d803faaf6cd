import { describe, expect, it } from 'vitest';
import { loginOf, passwordOf } from '../../infra/login.ts';

describe('the login that a deployment lets in', () => {
  it.each([
    ['postgres://functions:word@db.example.com/app', 'functions'],
    ['postgres://one%27s%20own:word@db.example.com/app', "one's own"],
    ['postgres://functions.abcdefgh:word@aws-0-eu-central-1.pooler.supabase.com:6543/postgres', 'functions'],
    ['postgres://first.last:word@db.example.com/app', 'first.last'],
    ['no address at all', ''],
  ])('of %s is %s', (address, login) => {
    expect(loginOf(address)).toBe(login);
  });

  it.each([
    ['postgres://functions:word@db.example.com/app', 'word'],
    ['postgres://functions:a%2Fb%25@db.example.com/app', 'a/b%'],
    ['postgres://functions@db.example.com/app', ''],
    ['no address at all', ''],
  ])('is made by %s with the password "%s"', (address, password) => {
    expect(passwordOf(address)).toBe(password);
  });
});
