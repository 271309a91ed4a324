import http.server
import threading

import pytest
from real.bench import Bench

PAGES = {
    "/robots.txt": b"User-agent: *\nDisallow: /private\n",
    "/page.txt": b"What the page says.",
    "/private/page.txt": b"What no robot reads.",
}


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked_for.append(self.path)
        page = PAGES.get(self.path)
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(page or b"")))
        self.end_headers()
        self.wfile.write(page or b"")

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def site():
    """A web site on the loopback interface; `asked_for` lists the paths of its requests."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        server.asked_for = []
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)
