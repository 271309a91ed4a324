import random
import re
import string

import pytest

from thrall_py.catalog import credentials

SECRET = "AbCdEf0123456789xyz"
HEX = "0123456789abcdef" * 4


def found(*words):
    return list(credentials.find(words))


@pytest.mark.parametrize(
    ("words", "place", "spelling"),
    [
        ([f"--token={SECRET}"], 1, "'--token=${TOKEN}'"),
        (["x", f"--token={SECRET}"], 2, "'--token=${TOKEN}'"),
        ([f"token={SECRET}"], 1, "'token=${TOKEN}'"),
        ([f"-token={SECRET}"], 1, "'-token=${TOKEN}'"),
        ([f"--github-token={SECRET}"], 1, "'--github-token=${GITHUB_TOKEN}'"),
        ([f"GITHUB_TOKEN={SECRET}"], 1, "'GITHUB_TOKEN=${GITHUB_TOKEN}'"),
        ([f"--api-key={SECRET}"], 1, "'--api-key=${API_KEY}'"),
        ([f"--apikey={SECRET}"], 1, "'--apikey=${APIKEY}'"),
        ([f"--Client.x-Secret={SECRET}"], 1, "'--Client.x-Secret=${CLIENT_X_SECRET}'"),
        ([f"--access-key={SECRET}"], 1, "'--access-key=${ACCESS_KEY}'"),
        ([f"--credential={SECRET}"], 1, "'--credential=${CREDENTIAL}'"),
        ([f"--credentials={SECRET}"], 1, "'--credentials=${CREDENTIALS}'"),
        ([f"--auth={SECRET}"], 1, "'--auth=${AUTH}'"),
        (["--password=a"], 1, "'--password=${PASSWORD}'"),
        (["--db-passwd=a b"], 1, "'--db-passwd=${DB_PASSWD}'"),
        (["--password", "hunter2"], 2, "--password '${PASSWORD}'"),
        (["--api-key", SECRET], 2, "--api-key '${API_KEY}'"),
        (["--x", "--api-key", SECRET, "y"], 3, "--api-key '${API_KEY}'"),
        (["--api-key", "sk-" + SECRET * 2], 2, "--api-key '${API_KEY}'"),
        (["sk-" + SECRET * 2], 1, "'${TOKEN}'"),
        (["ghp_" + SECRET * 2], 1, "'${TOKEN}'"),
        (["x=ghs_" + SECRET * 2], 1, "'${TOKEN}'"),
        (["github_pat_" + SECRET * 2], 1, "'${TOKEN}'"),
        (["glpat-" + SECRET], 1, "'${TOKEN}'"),
        (["xoxb-" + SECRET], 1, "'${TOKEN}'"),
        (["AKIA" + "ABCDEFGH01234567"], 1, "'${TOKEN}'"),
        (["AIza" + SECRET * 2], 1, "'${TOKEN}'"),
        (["npm_" + SECRET * 2], 1, "'${TOKEN}'"),
        (["hf_" + SECRET * 2], 1, "'${TOKEN}'"),
        (["pypi-" + SECRET * 2], 1, "'${TOKEN}'"),
        ([f"eyJ{SECRET}.{SECRET}.{SECRET}"], 1, "'${TOKEN}'"),
        ([f"Authorization: Bearer {SECRET}"], 1, "'${TOKEN}'"),
        ([f"--header=authorization: BASIC  {SECRET}"], 1, "'${TOKEN}'"),
        (["basic dXNlcjpwYXNzd29yZA=="], 1, "'${TOKEN}'"),
        ([f"X-Api-Key: {SECRET}"], 1, "'X-Api-Key: ${X_API_KEY}'"),
        ([f"X-Api-Key:{SECRET}"], 1, "'X-Api-Key:${X_API_KEY}'"),
        (["--header", f"x-auth:   {SECRET}"], 2, "'x-auth:   ${X_AUTH}'"),
        ([f"--pat={SECRET}"], 1, "'--pat=${PAT}'"),
        ([f"GITHUB_PAT={SECRET}"], 1, "'GITHUB_PAT=${GITHUB_PAT}'"),
        (["--pwd=x"], 1, "'--pwd=${PWD}'"),
        (["DB_PASS=x"], 1, "'DB_PASS=${DB_PASS}'"),
        (["--db-pass", "x"], 2, "--db-pass '${DB_PASS}'"),
        (["--password=${P}x"], 1, "'--password=${PASSWORD}'"),
        (["--password", "x${P}"], 2, "--password '${PASSWORD}'"),
        ([f"--key=\na{SECRET}"], 1, "'--key=${KEY}'"),
        (["sk_live_" + SECRET], 1, "'${TOKEN}'"),
        (["rk_live_" + SECRET], 1, "'${TOKEN}'"),
        (["x=${A}sk-" + SECRET * 2], 1, "'${TOKEN}'"),
        ([f"https://user:{SECRET}@example.com/mcp"], 1, "'${NAME}'"),
        (["postgres://u:p@h/db"], 1, "'${NAME}'"),
        ([f"https://example.com/mcp?x=1&token={SECRET}"], 1, "'${NAME}'"),
        ([f"--url=https://example.com/?token={SECRET}"], 1, "'${NAME}'"),
        ([f"--url=https://user:{SECRET}@example.com/mcp"], 1, "'${NAME}'"),
        ([f"see https://user:{SECRET}@example.com/ there"], 1, "'${NAME}'"),
        (["https://${USER}:hunter2@example.com/"], 1, "'${NAME}'"),
        (["git+https://:x@h"], 1, "'${NAME}'"),
        (["https://[broken?password=x"], 1, "'${NAME}'"),
        (
            [f"https://example.com/mcp?x=${{A}}&api_key={SECRET}#y"],
            1,
            "'${NAME}'",
        ),
        (["https://example.com/?password=x"], 1, "'${NAME}'"),
        (
            ["--header", "Authorization: Bearer abcdef123456"],
            2,
            "--header 'Authorization: Bearer ${AUTHORIZATION}'",
        ),
        (["-H", "Cookie: a=b"], 2, "-H 'Cookie: ${COOKIE}'"),
        (
            ["--header=Authorization: Bearer abcd"],
            1,
            "'--header=Authorization: Bearer ${AUTHORIZATION}'",
        ),
        (["--bearer", SECRET], 2, "--bearer '${BEARER}'"),
        (["--passphrase", "hunter2"], 2, "--passphrase '${PASSPHRASE}'"),
        (["--ssh-key", SECRET], 2, "--ssh-key '${SSH_KEY}'"),
        ([f"--accessToken={SECRET}"], 1, "'--accessToken=${ACCESSTOKEN}'"),
        (["sh", "-c", f"GITHUB_TOKEN={SECRET} npx x"], 3, "'${NAME}'"),
        (["sh", "-c", "cd /x; PASSWORD=hunter2 npx x"], 3, "'${NAME}'"),
        (["Server=x;Password=hunter2"], 1, "'${NAME}'"),
        ([f'{{"token":"{SECRET}"}}'], 1, "'${NAME}'"),
        (["basic dXNlcjpwYXNz"], 1, "'${TOKEN}'"),
        (["https://hooks.slack.com/services/T000/B000/" + SECRET], 1, "'${TOKEN}'"),
        (["https://discordapp.com/api/webhooks/12345/" + SECRET], 1, "'${TOKEN}'"),
    ],
)
def test_a_word_that_holds_a_credential_is_found_and_spelled_otherwise(words, place, spelling):
    assert found(*words) == [(place, spelling)]
    assert SECRET not in spelling


@pytest.mark.parametrize(
    "words",
    [
        [],
        [""],
        ["--token=${DRIFT_TOKEN}"],
        ["--header", "Authorization: Bearer ${T}"],
        ["--header=Authorization: Bearer ${T}"],
        ["--header", "Accept: application/json"],
        ["-H", "X-Team: one"],
        ["sh", "-c", "LEVEL=debug npx x"],
        ["sh", "-c", "GITHUB_TOKEN=${T} npx x"],
        ["Server=x;Password=${P}"],
        ["--session", "default"],
        ["basic JavaScript"],
        ["--auth=oauth2"],
        ['{"name":"a1b2c3d4e5f6g7h8i9"}'],
        ["--api-key", "${DRIFT_TOKEN}"],
        ["https://user:${PASSWORD}@example.com/mcp"],
        ["https://example.com/?token=${TOKEN}&password=${PASSWORD}"],
        ["X-Api-Key: ${API_KEY}"],
        ["--token=${A}${B}"],
        ["--password", "${P}"],
        ["--max-tokens=4096"],
        ["--compass=north"],
        ["--pat=short1"],
        ["sk_live_short"],
        ["--tokenizer=cl100k"],
        ["registry.example.com/image@sha256:" + HEX],
        ["--token"],
        ["--token="],
        ["--password="],
        ["--password", ""],
        ["--token=short1"],
        ["--token=onlylettersinaverylongword"],
        ["--token=12345678901234567890"],
        ["--key=/home/user/keys/key-2024-01-01.pem"],
        ["--key=a key of 2024 and many more words"],
        ["--keyboard=" + SECRET],
        ["--monkey=" + SECRET],
        ["--id=" + SECRET],
        ["--api-key", "--verbose"],
        ["--api-key=${X}", SECRET],
        ["api-key", SECRET],
        [SECRET],
        [HEX],
        ["=" + SECRET],
        ["sk-short"],
        ["bearer short"],
        ["@modelcontextprotocol/server-everything@2025.11.25"],
        ["https://example.com/mcp?x=" + SECRET],
        ["https://example.com:8080/mcp"],
        ["https://user@example.com/mcp"],
        ["https://[broken?token=x"],
        ["mailto:user:x@example.com"],
    ],
)
def test_a_word_that_only_resembles_a_credential_passes(words):
    assert found(*words) == []


def test_every_word_is_looked_at_on_its_own():
    words = ["--token", SECRET, "--password=a", "x", "ghp_" + SECRET * 2]
    assert found(*words) == [
        (2, "--token '${TOKEN}'"),
        (3, "'--password=${PASSWORD}'"),
        (5, "'${TOKEN}'"),
    ]


def test_no_suggestion_holds_any_of_the_secret():
    chance = random.Random(7)
    shapes = (
        "--token={}", "A_SECRET={}", "ghp_{0}{0}", "Bearer {}", "https://u:{}@h/", "https://h/?auth={}",
    )  # fmt: skip
    for _ in range(200):
        secret = "a1" + "".join(chance.choices(string.ascii_letters + string.digits, k=30))
        for shape in shapes:
            ((_, spelling),) = found(shape.format(secret))
            assert not any(secret[at : at + 5] in spelling for at in range(len(secret) - 4))
            assert "${" in spelling


@pytest.mark.parametrize(
    "word",
    [
        f"https://user:hunter2@example.com/?api_key={SECRET}",
        f"--url=https://user:hunter2@example.com/?api_key={SECRET}",
        f"--password=hunter2 https://user:hunter2@example.com/?api_key={SECRET}",
        f"--token=${{A}}{SECRET}",
    ],
)
def test_a_password_in_front_of_another_secret_is_not_suggested(word):
    ((_, spelling),) = found(word)
    assert "hunter2" not in spelling.lower()
    assert SECRET not in spelling


@pytest.mark.parametrize(
    ("option", "written", "variable"),
    [
        ("--2fa-token", "--2fa-token", "_2FA_TOKEN"),
        ("--x--y.z-token", "--x--y.z-token", "X_Y_Z_TOKEN"),
        ("--gr\xf6\xdfe-token", "'--gr\xf6\xdfe-token'", "GR_SSE_TOKEN"),
    ],
)
def test_a_suggested_variable_can_be_a_variable(option, written, variable):
    assert found(option, SECRET) == [(2, f"{written} '${{{variable}}}'")]
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", variable)


@pytest.mark.parametrize(
    "word",
    [
        "@acme/task-management-mcp-server",
        "@acme/task-management-mcp-server-2",
        "risk-assessment-mcp-server",
        "disk-2-management-mcp-server-00",
        "a basic understanding",
        "sk-only-letters-in-this-long-name",
        "Note: nothing to see, 1 or 2 words",
        "https://example.com:8080/@scope/x",
    ],
)
def test_plain_words_are_no_credentials(word):
    assert found(word) == []


@pytest.mark.parametrize(
    "word",
    [
        f"--header=X-Api-Key: {SECRET}",
        f"--env=API_KEY={SECRET}",
    ],
)
def test_a_header_or_a_variable_behind_an_option_is_found(word):
    assert [place for place, _ in found(word)] == [1]


def test_a_variable_whose_name_begins_with_an_underscore_is_found():
    assert [place for place, _ in found(f"_AUTH_TOKEN={SECRET}")] == [1]


# -- headers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "spelling"),
    [
        ("Authorization", f"Bearer {SECRET}", "Bearer ${AUTHORIZATION}"),
        ("authorization", "bearer x", "bearer ${AUTHORIZATION}"),
        ("Authorization", "Basic dTpw", "Basic ${AUTHORIZATION}"),
        ("Authorization", "token x", "token ${AUTHORIZATION}"),
        ("Authorization", SECRET, "${AUTHORIZATION}"),
        ("Authorization", f"Digest {SECRET}", "${AUTHORIZATION}"),
        ("Authorization", f"Bearer\t{SECRET}", "${AUTHORIZATION}"),
        ("Authorization", f"Bearer ${{T}}{SECRET}", "Bearer ${AUTHORIZATION}"),
        ("Authorization", f"Bearer ${{T:-{SECRET}}}", "Bearer ${AUTHORIZATION}"),
        ("Proxy-Authorization", "x", "${PROXY_AUTHORIZATION}"),
        ("Cookie", "a=b", "${COOKIE}"),
        ("X-Api-Key", "x", "${X_API_KEY}"),
        ("X-Auth", "1", "${X_AUTH}"),
        ("X-My.Secret", "x", "${X_MY_SECRET}"),
        ("2FA-Token", "x", "${_2FA_TOKEN}"),
        ("X-Password", "x", "${X_PASSWORD}"),
        ("X-Credential", "x", "${X_CREDENTIAL}"),
        ("X-Plain", "ghp_" + SECRET * 2, "${X_PLAIN}"),
        ("X-Plain", f"Bearer {SECRET}", "Bearer ${X_PLAIN}"),
    ],
)
def test_a_header_that_holds_a_credential_is_found_and_spelled_otherwise(name, value, spelling):
    headers = {"X-Team": "one", name: value, "Accept-Language": "de"}
    assert list(credentials.find_in_headers(headers)) == [(name, spelling)]
    assert SECRET not in spelling


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "Bearer ${T}"),
        ("Authorization", "${AUTHORIZATION}"),
        ("Authorization", "Basic  ${T}${U}"),
        ("Authorization", "token ${T:-}"),
        ("Authorization", ""),
        ("X-Api-Key", " ${KEY} "),
        ("X-Team", "engineering-platform-42"),
        ("X-Request", HEX),
        ("X-Plain", "Bearer short"),
    ],
)
def test_a_header_without_one_passes(name, value):
    assert list(credentials.find_in_headers({name: value})) == []


@pytest.mark.parametrize("name", ["-", ""])
def test_a_header_of_a_name_that_makes_no_variable_is_found_as_well(name):
    ((found_name, spelling),) = credentials.find_in_headers({name: "ghp_" + SECRET * 2})
    assert found_name == name
    assert "${" in spelling
